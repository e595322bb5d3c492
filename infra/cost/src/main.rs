//! `cargo run --bin cost`: starts the local host, plays and counts every path, and prints what it costs.

use std::process::ExitCode;

use clap::Parser;
use cost::report::{self, Standing};
use cost::{Workload, prices};
use local::arguments::Arguments;
use local::{Host, builder, home, terminal};

/// Why there are no tables.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error(transparent)]
    Build(#[from] builder::Error),
    #[error(transparent)]
    Home(#[from] home::Error),
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
            terminal::complain(&error.to_string());
            ExitCode::FAILURE
        }
    }
}

async fn run(workload: &Workload) -> Result<(), Error> {
    // A host of its own that forgets everything.
    let arguments = Arguments::parse_from(["switchboard", "--memory", "--port", "0"]);
    let home = arguments.open_home()?;
    let operator_key = home.operator_key()?;
    let binaries = arguments.binaries().await?;
    let host = Host::start(arguments.options(&home, binaries, &operator_key, axum::Router::new())).await?;
    let counted = cost::count(&host, &operator_key).await;
    let standing = Standing::of(&host);
    host.stop().await;
    for table in report::tables(workload, &counted?, standing?) {
        terminal::say(&table);
    }
    terminal::say(&format!("List prices of us-east-1 in {}, without free tiers.", prices::AS_OF));
    Ok(())
}
