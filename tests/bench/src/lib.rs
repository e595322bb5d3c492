//! Benchmarks of the functions (docs/benchmarks.md). All traffic stays on the loopback interface.
//!
//! # Layout
//! - [`Arguments`]: the command line; [`run`] runs the measures and writes the report
//! - `measures/`: one file for each measure
//! - `program.rs`, `runtime_api.rs`: run one process of a function without the local host's gateway
//! - `fixture.rs`: a local host with an account, a channel and open chats
//! - `store_calls.rs`: records an invocation's requests to DynamoDB and repeats them
//! - `load.rs`: an open-loop load generator; `receiver.rs`: an integrator that records when messages arrive
//! - `statistics.rs`, `report.rs`, `plot.rs`, `machine.rs`: the results

mod arguments;
mod error;
mod fixture;
mod load;
mod machine;
mod measures;
mod plot;
mod program;
mod receiver;
mod report;
mod runtime_api;
mod statistics;
mod store_calls;

pub use arguments::Arguments;
pub use error::Error;

use report::Report;

/// Runs the selected measures one after the other and writes the report.
///
/// # Errors
/// A program cannot be run, the service rejects a request, or the report cannot be written.
pub async fn run(arguments: &Arguments) -> Result<(), Error> {
    let mut report = Report::new(&arguments.out)?;
    for measure in arguments.measures() {
        progress(&format!("{}:", measure.name()));
        report.add(measure.run(arguments).await?)?;
    }
    progress(&format!("results: {}", arguments.out.display()));
    Ok(())
}

fn progress(line: &str) {
    local::terminal::print_line(line);
}
