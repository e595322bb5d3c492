//! `cargo run --bin hot-keys`: simulates a load and prints the busiest partition keys and message groups.

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;
use keys::{Options, report, simulation};

fn main() -> ExitCode {
    let options = Options::parse();
    let load = simulation::simulate(&options);
    match writeln!(std::io::stdout(), "{}", report::report(&options, &load)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
