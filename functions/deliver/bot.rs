//! Delivers visitors' messages and notifications to bot providers (specification, B-2). Also checks, at the end of a
//! bot's time limit for an answer, whether the bot has answered. Two queues invoke this function: a FIFO queue of first
//! attempts, which preserves the order of each chat, and a retry queue of delayed tasks.
//!
//! An attempt costs these table and queue requests:
//! - entry and chat: one batch that reads both. An outdated task costs nothing more
//! - circuit breaker (while it is open, first attempts use the retry queue): at most one read before a first attempt,
//!   and only if an attempt of this process took at least a second and failed, and the receiver has not responded since
//! - receiver: one read each of the bot and the provider, cached for ten seconds
//! - message: one read of the visitor, one query of the agents' presence and one read of the channel. If the channel
//!   names agents or departments, also one query of the roster (the account's agents and departments). The channel and
//!   the roster are cached
//! - result: one write of the entry. If the delivery has failed, instead one read of the chat and one transaction that
//!   writes the entry and the report counters. If the bot has a time limit for its answer, one queue request schedules
//!   the check before the message counts as delivered
//! - failed attempt: one queue request for the next attempt, if there is one, and at most one write that marks the
//!   receiver as failing in the chat's header. If the attempt took at least a second, the circuit breaker is updated,
//!   which costs at most one write, or up to three if the earlier failures have expired. The first success after a
//!   failure costs up to two writes: one removes the mark from the header, the other closes the circuit breaker
//! - last failed attempt of a message or of AGENT_UNAVAILABLE: handing the chat over to the agents costs one read and
//!   one write
//!
//! The check at the end of the time limit costs one read of the chat, and one write if it hands the chat over to the
//! agents. If a table or a queue is unavailable, the task is sent to the retry queue, which costs one queue request.

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
        Task::Entry(task) => engine::run(&chats, &breakers, &retries.0, &providers, &task).await,
        Task::AnswerDue(task) => providers.hand_over_if_unanswered(&task).await,
        Task::Typing(_) | Task::CallDue(_) => Err(Error::internal("unexpected kind of task in the bot queue")),
    }
}
