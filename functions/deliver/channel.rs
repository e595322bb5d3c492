//! Delivers agents' messages to integrators. Fed by two queues: first tries in the order of each chat,
//! later tries with their delay.

use std::process::ExitCode;

use shared::delivery::channel::Integrators;
use shared::delivery::engine;
use shared::delivery::outbound::Outbound;
use shared::error::Error;
use shared::runtime::consumer;
use shared::runtime::queue::ChannelRetryQueue;
use shared::store::chats::Chats;
use shared::store::connections::breakers::Breakers;
use shared::store::directory::Directory;
use shared::wire::task::Task;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    consumer::run(handle).await
}

type Dependencies = (Directory, Chats, Breakers, ChannelRetryQueue, Outbound);

async fn handle((directory, chats, breakers, retries, outbound): Dependencies, task: Task) -> Result<(), Error> {
    let integrators = Integrators { directory: &directory, outbound: &outbound };
    match task {
        Task::Entry(task) => engine::run(&chats, &breakers, &retries.0, &integrators, &task).await,
        Task::Typing(task) => {
            integrators.send_typing(&chats, &breakers, &task).await;
            Ok(())
        }
        Task::AnswerDue(_) => Err(Error::internal("a bot's time-out in the queue of a channel")),
    }
}
