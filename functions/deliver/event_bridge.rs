//! Delivers events of webhooks to EventBridge event buses of customers. Two queues invoke this function: a FIFO queue of first attempts,
//! which preserves the order of each chat, and a retry queue of delayed tasks.

use std::process::ExitCode;

use shared::delivery::aws_target_receiver::AwsTargetReceiver;
use shared::delivery::engine;
use shared::delivery::late_delivery::LateDelivery;
use shared::domain::deliveries::delivery::Target;
use shared::error::Error;
use shared::runtime::customer_aws::CustomerAws;
use shared::runtime::outbox::Outbox;
use shared::runtime::queue_consumer;
use shared::store::chats::Chats;
use shared::store::connections::circuit_breakers::CircuitBreakers;
use shared::store::directory::Directory;
use shared::wire::queue_task::Task;

fn main() -> ExitCode {
    queue_consumer::run(handle)
}

type Dependencies = (Directory, Chats, CircuitBreakers, Outbox, CustomerAws);

async fn handle((directory, chats, breakers, outbox, aws): Dependencies, task: Task) -> Result<(), Error> {
    let receiver = AwsTargetReceiver { target: Target::EventBridge, directory: &directory, chats: &chats, aws: &aws };
    match task {
        Task::Entry(task) => engine::run(&chats, &breakers, &outbox, &receiver, &task).await,
        Task::Outage(task) => LateDelivery { chats: &chats, outbox: &outbox, receiver: &receiver }.run(task).await,
        Task::Typing(_) | Task::AnswerDue(_) | Task::AgentWaitDue(_) | Task::CallDue(_) | Task::StandbyCopy(_) => {
            Err(Error::internal("unexpected kind of task in the queue of a webhook"))
        }
    }
}
