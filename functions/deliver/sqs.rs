//! Delivers events of webhooks to SQS queues of customers. Two queues invoke this function: a FIFO queue of first
//! attempts, which preserves the order of each chat, and a retry queue of delayed tasks.

use std::process::ExitCode;

use shared::delivery::aws_target_receiver::{self, Dependencies};
use shared::domain::deliveries::delivery::Target;
use shared::error::Error;
use shared::runtime::queue_consumer;
use shared::wire::queue_task::Task;

fn main() -> ExitCode {
    queue_consumer::run(handle)
}

async fn handle(dependencies: Dependencies, task: Task) -> Result<(), Error> {
    aws_target_receiver::handle(Target::Sqs, dependencies, task).await
}
