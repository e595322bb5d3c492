//! Delivers events to the webhooks of accounts (part C). Fed by two queues: first tries in the order of each chat,
//! later tries with their delay.

use std::process::ExitCode;

use shared::consumer;
use shared::delivery::engine;
use shared::delivery::outbound::Outbound;
use shared::delivery::task::Task;
use shared::delivery::webhook::Webhooks;
use shared::error::Error;
use shared::queue::WebhookRetryQueue;
use shared::store::breakers::Breakers;
use shared::store::chats::Chats;
use shared::store::directory::Directory;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    consumer::run(handle).await
}

type Uses = (Directory, Chats, Breakers, WebhookRetryQueue, Outbound);

async fn handle((directory, chats, breakers, retries, outbound): Uses, task: Task) -> Result<(), Error> {
    let webhooks = Webhooks { directory: &directory, chats: &chats, outbound: &outbound };
    match task {
        Task::Entry(task) => engine::run(&chats, &breakers, &retries.0, &webhooks, &task).await,
        Task::Typing(_) | Task::AnswerDue(_) => Err(Error::internal("a task of another queue")),
    }
}
