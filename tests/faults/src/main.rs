//! Runs the service under load with injected faults, and checks that it keeps its guarantees (docs/faults.md).
//!
//! # Layout
//! - `round.rs`: one round: an account, its load with faults, the recovery, a calm phase, and the collected evidence
//! - `plan.rs`: the faults of a round, derived from the seed
//! - `host_program.rs`, `host_control.rs`: the local host as a program that can be killed, and its supervisor
//! - `account.rs`, `conversations.rs`, `bot.rs`: the load: an account, its visitors and agents, and its bot
//! - `receiver.rs`: the integrators, webhooks and the bot's provider, which misbehave
//! - `fetcher.rs`, `customer.rs`: an integrator's program that fetches its messages, and a customer's queue and event bus
//! - `client.rs`, `records.rs`: requests to the service, and the record of each of them
//! - `evidence.rs`: what is known after a round: the records, the journals of the receivers and the service's data
//! - `checker.rs`: judges the evidence, without using any of the service's code
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![allow(clippy::wildcard_enum_match_arm)]

mod account;
mod bot;
mod checker;
mod client;
mod conversations;
mod customer;
mod evidence;
mod fetcher;
mod host_control;
mod host_program;
mod plan;
mod receiver;
mod records;
mod round;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use local::cargo_build::{self, CargoProfile};
use local::command::open_file_limit;

use crate::evidence::Evidence;
use crate::host_control::HostControl;
use crate::host_program::HostArguments;

/// Runs the service under load with injected faults, and checks that it keeps its guarantees.
#[derive(Parser)]
#[command(name = "tests/faults/run")]
struct Arguments {
    /// How long faults are injected, in seconds. Each round injects faults for up to a minute of this time, and then
    /// takes about as long to recover
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// The number from which all faults and all conversations are derived
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Run only this round, to repeat what a longer run has found
    #[arg(long)]
    round: Option<u64>,
    /// Use the existing binaries without building them
    #[arg(long)]
    no_build: bool,
    /// Keep the evidence of every round, not only of rounds with violations
    #[arg(long)]
    keep_evidence: bool,
    /// Check the evidence of an earlier round again, without running anything
    #[arg(long, value_name = "FILE")]
    check: Option<PathBuf>,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Runs the local host; for internal use
    #[command(hide = true)]
    Host(HostArguments),
}

/// How long faults are injected in one round.
const ROUND_SECONDS: u64 = 60;

#[tokio::main]
async fn main() -> ExitCode {
    open_file_limit::raise_limit();
    let arguments = Arguments::parse();
    match arguments.command {
        Some(Command::Host(host)) => host_program::run(host).await,
        None => match &arguments.check {
            Some(file) => exit_code(report(&Evidence::read(file)) > 0),
            None => run(&arguments).await,
        },
    }
}

async fn run(arguments: &Arguments) -> ExitCode {
    let binaries = if arguments.no_build {
        cargo_build::existing_binaries().expect("the binaries are beside this program")
    } else {
        cargo_build::build(CargoProfile::Dev, &[]).await.expect("the functions compile")
    };
    // The folder is on the same disk as the binaries, so that they can be hard-linked into it.
    let folder = tempfile::Builder::new().prefix("run-").tempdir_in(results_folder()).expect("a temporary folder");
    let mut host = HostControl::start(folder.path(), &binaries).await;
    let last = arguments.seconds.div_ceil(ROUND_SECONDS).max(1);
    let rounds = arguments.round.map_or(1..=last, |round| round..=round);
    let mut failed = false;
    for number in rounds {
        let seconds = match arguments.round {
            Some(_) => arguments.seconds.min(ROUND_SECONDS),
            None => (arguments.seconds - (number - 1) * ROUND_SECONDS).min(ROUND_SECONDS),
        };
        println!("round {number}: {seconds} seconds of faults, seed {}", arguments.seed);
        let evidence = round::run(&mut host, arguments.seed, number, seconds).await;
        let violations = report(&evidence);
        failed |= violations > 0;
        if arguments.keep_evidence || violations > 0 {
            let path = evidence_path(arguments.seed, number);
            evidence.write(&path);
            host.copy_log(&path.with_extension("log"));
            println!("  evidence: {}", path.display());
        }
        if violations > 0 {
            println!("  repeat with: tests/faults/run --seed {} --round {number} --seconds {seconds}", arguments.seed);
        }
    }
    host.stop().await;
    exit_code(failed)
}

/// Returns the number of violations.
fn report(evidence: &Evidence) -> usize {
    println!("{}", evidence.summary());
    println!("  failed although accepted: {}", checker::accepted_failures(evidence));
    println!("  changes of owner that a webhook was notified of: {}", checker::count_arrows(evidence));
    let (during, after) = checker::lateness_of_announcements(evidence);
    for (when, lateness) in [("during the faults", during), ("after the faults", after)] {
        println!("  answers due soon {when}, stored: {}", lateness_summary(&lateness.stored));
        println!("  answers due soon {when}, at the receiver: {}", lateness_summary(&lateness.arrived));
    }
    let violations = checker::check(evidence);
    for violation in &violations {
        println!("VIOLATION {violation}");
    }
    violations.len()
}

/// `lateness` is sorted.
fn lateness_summary(lateness: &[i64]) -> String {
    let in_time = lateness.partition_point(|ms| *ms <= 2_000);
    let (median, last) = (lateness.get(lateness.len() / 2), lateness.last());
    let ms = |value: Option<&i64>| value.copied().unwrap_or_default();
    let count = lateness.len();
    format!("{count} announced, {in_time} at most 2 s late, median {} ms, last {} ms", ms(median), ms(last))
}

fn exit_code(failed: bool) -> ExitCode {
    println!("{}", if failed { "FAILED" } else { "no violation" });
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn results_folder() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let folder = target.unwrap_or_else(|| cargo_build::workspace_root().join("target")).join("faults");
    std::fs::create_dir_all(&folder).expect("the folder can be created");
    folder
}

fn evidence_path(seed: u64, round: u64) -> PathBuf {
    results_folder().join(format!("seed-{seed}-round-{round}.json"))
}
