//! The local host as a separate program, so that it can be killed. It reads commands from its standard input. Once it
//! has started, and after each command, it prints its status as one line. It ends when its standard input is closed.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use local::faults::FaultPlan;
use local::{Host, HostStorage, LogSink, Options, cargo_build};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, BufReader};

#[derive(Args)]
pub struct HostArguments {
    #[arg(long)]
    port: u16,
    #[arg(long)]
    data: PathBuf,
    #[arg(long)]
    binaries: PathBuf,
    #[arg(long)]
    operator_key_sha256: String,
}

#[derive(Debug, Serialize, Deserialize)]
pub enum HostCommand {
    /// Starts injecting this plan's faults. The plan replaces any earlier plan. `None` stops the injection.
    SetPlan(Option<Box<FaultPlan>>),
    /// Runs the scheduled search for overdue deliveries now.
    Sweep,
    Status,
}

#[derive(Debug, Default, Serialize, Deserialize)]
pub struct HostStatus {
    /// The number of injected faults of each kind since this program started.
    pub faults: BTreeMap<String, u64>,
    /// The number of messages in each queue that is not empty.
    pub queues: BTreeMap<String, u64>,
}

pub async fn run(arguments: HostArguments) -> ExitCode {
    let parameters = [
        ("OperatorKeySha256", arguments.operator_key_sha256.as_str()),
        ("AllowHttpTargets", "true"),
        ("AllowedPrivateTargets", "127.0.0.0/8,::1/128"),
    ];
    let options = Options {
        port: arguments.port,
        storage: HostStorage::Dir(arguments.data),
        template: cargo_build::workspace_root().join("template.yaml"),
        parameters: parameters.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
        binaries: arguments.binaries,
        extra_routes: axum::Router::new(),
        log: LogSink::Stderr,
        store_latency: Duration::ZERO,
    };
    let host = match Host::start(options).await {
        Ok(host) => host,
        Err(error) => {
            eprintln!("the host cannot start: {error}");
            return ExitCode::FAILURE;
        }
    };
    print_status(&host);
    let mut commands = BufReader::new(tokio::io::stdin()).lines();
    while let Ok(Some(line)) = commands.next_line().await {
        match serde_json::from_str(&line).expect("a command") {
            HostCommand::SetPlan(plan) => host.faults().set_plan(plan.map(|plan| *plan)),
            HostCommand::Sweep => {
                if let Err(error) = host.run_schedule("schedule-requeue-deliveries").await {
                    eprintln!("the sweep failed: {error}");
                }
            }
            HostCommand::Status => {}
        }
        print_status(&host);
    }
    host.stop().await;
    ExitCode::SUCCESS
}

fn print_status(host: &Host) {
    let queues = host.queues().non_empty_queues().expect("the queues can be read");
    let count = |depth: local::sqs::QueueDepth| depth.visible + depth.in_flight + depth.delayed;
    let status = HostStatus {
        faults: host.faults().counts().into_iter().map(|(name, count)| (name.to_owned(), count)).collect(),
        queues: queues.into_iter().map(|(name, depth)| (name, count(depth))).collect(),
    };
    println!("{}", serde_json::to_string(&status).expect("the status is JSON"));
}
