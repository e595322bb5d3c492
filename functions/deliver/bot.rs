//! Delivers visitors' messages and notifications to bot providers (specification, B-2). Also checks, at the end of a
//! bot's time limit for an answer, whether the bot has answered, and, at the end of the time limit for accepting a chat
//! that a bot has handed over, whether an agent has accepted it. Two queues invoke this function: a FIFO queue of first
//! attempts, which preserves the order of each chat, and a retry queue of delayed tasks.

use std::process::ExitCode;

use shared::delivery::bot_receiver::BotReceiver;
use shared::delivery::engine;
use shared::delivery::outbound_client::OutboundClient;
use shared::error::Error;
use shared::runtime::outbox::Outbox;
use shared::runtime::queue_consumer;
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::connections::circuit_breakers::CircuitBreakers;
use shared::store::directory::Directory;
use shared::wire::queue_task::Task;

fn main() -> ExitCode {
    queue_consumer::run(handle)
}

type Dependencies = (Directory, Chats, Connections, CircuitBreakers, Outbox, OutboundClient);

async fn handle(dependencies: Dependencies, task: Task) -> Result<(), Error> {
    let (directory, chats, connections, breakers, outbox, outbound) = dependencies;
    let providers = BotReceiver {
        directory: &directory,
        chats: &chats,
        connections: &connections,
        outbox: &outbox,
        outbound: &outbound,
    };
    match task {
        Task::Entry(task) => engine::run(&chats, &breakers, &outbox, &providers, &task).await,
        Task::AnswerDue(task) => providers.hand_over_if_unanswered(&task).await,
        Task::AgentWaitDue(task) => providers.return_if_unaccepted(&task).await,
        Task::StandbyCopy(task) => providers.send_copy(&task).await,
        Task::Typing(_)
        | Task::CallDue(_)
        | Task::Outage(_)
        | Task::Assignment(_)
        | Task::AnswerTimer(_)
        | Task::Email(_) => Err(Error::internal("unexpected kind of task in the bot queue")),
    }
}
