//! `cargo run --bin cost`: runs every scenario on a local host and prints what a workload costs.

use std::process::ExitCode;

use clap::Parser;
use cost::report::{self, FixedResources};
use cost::{Workload, prices};
use local::command::arguments::Arguments;
use local::{Host, cargo_build, file_store, terminal};

#[derive(Debug, thiserror::Error)]
enum Error {
    #[error(transparent)]
    Build(#[from] cargo_build::Error),
    #[error(transparent)]
    FileStore(#[from] file_store::Error),
    #[error(transparent)]
    Host(#[from] local::Error),
    #[error(transparent)]
    Count(#[from] cost::Error),
    #[error("cannot read the template: {0}")]
    Template(#[from] std::io::Error),
}

#[tokio::main]
async fn main() -> ExitCode {
    match run(&Workload::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            terminal::print_error(&error.to_string());
            ExitCode::FAILURE
        }
    }
}

async fn run(workload: &Workload) -> Result<(), Error> {
    // This host stores its data in memory and uses a free port, so it does not interfere with other local hosts.
    let arguments = Arguments::parse_from(["switchboard", "--memory", "--port", "0"]);
    let file_store = arguments.open_file_store()?;
    let operator_key = file_store.operator_key()?;
    let binaries = arguments.build_functions().await?;
    let host = Host::start(arguments.options(&file_store, binaries, &operator_key, axum::Router::new())).await?;
    let usage = cost::measure_all_scenarios(&host, &operator_key).await;
    let fixed_resources = FixedResources::of(&host);
    host.stop().await;
    for table in report::tables(workload, &usage?, fixed_resources?) {
        terminal::print_line(&table);
    }
    terminal::print_line(&format!("List prices of us-east-1 in {}, without free tiers.", prices::PRICE_DATE));
    Ok(())
}
