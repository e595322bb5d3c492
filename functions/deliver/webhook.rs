//! Delivers events to the webhooks of accounts (specification, part C). Two queues invoke this function: a FIFO queue
//! of first attempts, which preserves the order of each chat, and a retry queue of delayed tasks.
//!
//! An attempt costs these table and queue requests:
//! - entry and chat: one batch that reads both. An outdated task costs nothing more
//! - circuit breaker (while it is open, first attempts use the retry queue): at most one read before a first attempt,
//!   and only if an attempt of this process took at least a second and failed, and the receiver has not responded since
//! - receiver: one read of the settings, cached for ten seconds. If the cached settings do not contain the webhook,
//!   they are read again
//! - event: one read of the visitor and one batch that reads the agents. If an agent has been deleted, one more batch.
//!   chat_finished also costs one query per megabyte or 1,000 entries of the timeline, and one read of the panel if the
//!   chat has had an invitation. offline_message also costs one query
//! - response: nothing if it contains no data. Panel data cost one read of the chat, and one transaction that checks
//!   the chat and writes the panel. Contact details cost one read of the visitor and up to two writes, of the visitor
//!   and of the chat. The response to chat_assigned and the last failed attempt of chat_assigned each cost one write of
//!   the panel
//! - result: one write of the entry. If the delivery has failed, instead one read of the chat and one transaction that
//!   writes the entry and the report counters
//! - failed attempt: one queue request for the next attempt, if there is one. If the attempt took at least a second,
//!   the circuit breaker is updated, which costs at most one write, or up to three if the earlier failures have
//!   expired. The first success after such a failure costs one write, which closes the circuit breaker
//!
//! If a table or a queue is unavailable, the task is sent to the retry queue, which costs one queue request.

use std::process::ExitCode;

use shared::delivery::engine;
use shared::delivery::outbound_client::OutboundClient;
use shared::delivery::webhook_receiver::WebhookReceiver;
use shared::error::Error;
use shared::runtime::queue::WebhookRetryQueue;
use shared::runtime::queue_consumer;
use shared::store::chats::Chats;
use shared::store::connections::circuit_breakers::CircuitBreakers;
use shared::store::directory::Directory;
use shared::wire::queue_task::Task;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    queue_consumer::run(handle).await
}

type Dependencies = (Directory, Chats, CircuitBreakers, WebhookRetryQueue, OutboundClient);

async fn handle((directory, chats, breakers, retries, outbound): Dependencies, task: Task) -> Result<(), Error> {
    let webhooks = WebhookReceiver { directory: &directory, chats: &chats, outbound: &outbound };
    match task {
        Task::Entry(task) => engine::run(&chats, &breakers, &retries.0, &webhooks, &task).await,
        Task::Typing(_) | Task::AnswerDue(_) | Task::CallDue(_) => {
            Err(Error::internal("unexpected kind of task in the webhook queue"))
        }
    }
}
