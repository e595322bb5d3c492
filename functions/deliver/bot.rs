//! Delivers visitors' messages and notifications to bot providers (B-2), and checks at the end of a bot's time limit
//! that it has answered. Fed by two queues: a FIFO queue with the first attempts, which preserves the order of each
//! chat, and a retry queue with delayed tasks.
//!
//! Table and queue requests of an attempt:
//! - entry and chat: one batch that reads both. A task that is no longer current ends here
//! - circuit breaker: one read before a first attempt, if the receiver has failed in this process and has not answered
//!   since
//! - receiver: bot and provider, one read each, cached for ten seconds
//! - message: one read of the visitor, one query of the presences, one read of the channel and, if it names agents or
//!   departments, one query of the roster, both cached
//! - result: one write of the entry; before a message counts as delivered, one queue request that schedules the answer
//!   check, if the bot has a time limit
//! - failed attempt: one queue request for the next one, one write that marks the chat as failing, and one that counts
//!   a slow failure for the circuit breaker (up to three if its failures have expired). An answer after a failure costs
//!   one write for the mark and one for the breaker
//! - last failed attempt of a message: one read and one write that hand the chat over to the agents
//!
//! An answer check costs one read of the chat, and one write if it hands the chat over. If a table or a queue is
//! unavailable, the task goes to the retry queue: one queue request.

use std::process::ExitCode;

use shared::delivery::bot_receiver::BotReceiver;
use shared::delivery::engine;
use shared::delivery::outbound_client::OutboundClient;
use shared::error::Error;
use shared::runtime::queue::BotRetryQueue;
use shared::runtime::queue_consumer;
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::connections::circuit_breakers::CircuitBreakers;
use shared::store::directory::Directory;
use shared::wire::queue_task::Task;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    queue_consumer::run(handle).await
}

type Dependencies = (Directory, Chats, Connections, CircuitBreakers, BotRetryQueue, OutboundClient);

async fn handle(
    (directory, chats, connections, breakers, retries, outbound): Dependencies,
    task: Task,
) -> Result<(), Error> {
    let providers = BotReceiver {
        directory: &directory,
        chats: &chats,
        connections: &connections,
        retries: &retries.0,
        outbound: &outbound,
    };
    match task {
        Task::TimelineEntry(task) => engine::run(&chats, &breakers, &retries.0, &providers, &task).await,
        Task::AnswerDue(task) => providers.hand_over_if_unanswered(&task).await,
        Task::Typing(_) => Err(Error::internal("typing notice in the queue of bot deliveries")),
    }
}
