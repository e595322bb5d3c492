//! Delivers events to the webhooks of accounts (part C). Fed by two queues: first tries in the order of each chat,
//! later tries with their delay.

use std::process::ExitCode;

use shared::delivery::engine;
use shared::delivery::outbound::Outbound;
use shared::delivery::webhook::Webhooks;
use shared::error::Error;
use shared::runtime::consumer;
use shared::runtime::queue::WebhookRetryQueue;
use shared::store::chats::Chats;
use shared::store::connections::breakers::Breakers;
use shared::store::directory::Directory;
use shared::wire::task::Task;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    consumer::run(handle).await
}

type Dependencies = (Directory, Chats, Breakers, WebhookRetryQueue, Outbound);

async fn handle((directory, chats, breakers, retries, outbound): Dependencies, task: Task) -> Result<(), Error> {
    let webhooks = Webhooks { directory: &directory, chats: &chats, outbound: &outbound };
    match task {
        Task::Entry(task) => engine::run(&chats, &breakers, &retries.0, &webhooks, &task).await,
        Task::Typing(_) | Task::AnswerDue(_) => Err(Error::internal("a task of another queue")),
    }
}
