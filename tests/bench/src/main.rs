//! `tests/bench/run`: measures the functions and writes the results.

use std::process::ExitCode;

use bench::Arguments;
use clap::Parser;

#[tokio::main]
async fn main() -> ExitCode {
    local::command::open_file_limit::raise_limit();
    match bench::run(&Arguments::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            local::terminal::print_error(&error.to_string());
            ExitCode::FAILURE
        }
    }
}
