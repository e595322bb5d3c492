//! Delivers events to the webhooks of accounts (specification, part C). Two queues invoke this function: a FIFO queue
//! of first attempts, which preserves the order of each chat, and a retry queue of delayed tasks.

use std::process::ExitCode;

use shared::delivery::engine;
use shared::delivery::late_delivery::LateDelivery;
use shared::delivery::outbound_client::OutboundClient;
use shared::delivery::webhook_receiver::WebhookReceiver;
use shared::error::Error;
use shared::runtime::outbox::Outbox;
use shared::runtime::queue_consumer;
use shared::store::chats::Chats;
use shared::store::connections::circuit_breakers::CircuitBreakers;
use shared::store::directory::Directory;
use shared::wire::queue_task::Task;

fn main() -> ExitCode {
    queue_consumer::run(handle)
}

type Dependencies = (Directory, Chats, CircuitBreakers, Outbox, OutboundClient);

async fn handle((directory, chats, breakers, outbox, outbound): Dependencies, task: Task) -> Result<(), Error> {
    let webhooks = WebhookReceiver { directory: &directory, chats: &chats, outbound: &outbound };
    match task {
        Task::Entry(task) => engine::run(&chats, &breakers, &outbox, &webhooks, &task).await,
        Task::Outage(task) => LateDelivery { chats: &chats, outbox: &outbox, receiver: &webhooks }.run(task).await,
        Task::Typing(_)
        | Task::AnswerDue(_)
        | Task::AgentWaitDue(_)
        | Task::CallDue(_)
        | Task::StandbyCopy(_)
        | Task::Assignment(_)
        | Task::AnswerTimer(_)
        | Task::Email(_) => Err(Error::internal("unexpected kind of task in the webhook queue")),
    }
}
