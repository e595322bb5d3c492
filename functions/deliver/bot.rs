//! Delivers visitors' messages and notices to bot providers (B-2), and ends a bot's time for an answer. Fed by two
//! queues: first tries in the order of each chat, later tries and time-outs with their delay.

use std::process::ExitCode;

use shared::delivery::bot::Providers;
use shared::delivery::engine;
use shared::delivery::outbound::Outbound;
use shared::error::Error;
use shared::runtime::consumer;
use shared::runtime::queue::BotRetryQueue;
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::connections::breakers::Breakers;
use shared::store::directory::Directory;
use shared::wire::task::Task;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    consumer::run(handle).await
}

type Dependencies = (Directory, Chats, Connections, Breakers, BotRetryQueue, Outbound);

async fn handle(
    (directory, chats, connections, breakers, retries, outbound): Dependencies,
    task: Task,
) -> Result<(), Error> {
    let providers = Providers {
        directory: &directory,
        chats: &chats,
        connections: &connections,
        retries: &retries.0,
        outbound: &outbound,
    };
    match task {
        Task::Entry(task) => engine::run(&chats, &breakers, &retries.0, &providers, &task).await,
        Task::AnswerDue(task) => providers.answer_due(&task).await,
        Task::Typing(_) => Err(Error::internal("a typing notice in the queue of a bot")),
    }
}
