//! Places phone calls through the telephony providers of accounts (docs/telephony.md), and ends calls whose provider
//! has stopped reporting. Two queues invoke this function: a FIFO queue of first attempts, and a retry queue of delayed
//! tasks.
//!
//! An attempt costs these table and queue requests:
//! - entry and chat: one batch that reads both. An outdated task costs nothing more
//! - circuit breaker (while it is open, first attempts use the retry queue): at most one read before a first attempt,
//!   and only if an attempt of this process took at least a second and failed, and the receiver has not responded since
//! - time limit: one queue request, which schedules the check of the call's time limit. An incoming call does not have
//!   to be placed, so this function skips the receiver and continues with the result
//! - receiver: one read of the telephony settings, cached for ten seconds
//! - result: one write of the entry
//! - failed attempt: one queue request for the next attempt, if there is one. If the attempt took at least a second,
//!   the circuit breaker is updated, which costs at most one write, or up to three if the earlier failures have
//!   expired. The first success after such a failure costs one write, which closes the circuit breaker
//! - last failed attempt: one read of the settings, cached for ten seconds, one batch that reads the entry and the
//!   chat, one write of the chat, one transaction that stores the failed call and an event for each webhook, and
//!   another read of the entry. Each event also costs one queue request. The result is then stored in a transaction
//!   that also counts the failure for the reports, which costs one more read
//!
//! The check of a time limit costs one read, and nothing more if the call has already ended. If the limit has not
//! passed, it also costs one queue request; otherwise, it also costs the requests that store the end of the call, as
//! after the last failed attempt.
//!
//! If a table or a queue is unavailable, the task is sent to the retry queue, which costs one queue request.

use std::process::ExitCode;

use shared::delivery::engine;
use shared::delivery::outbound_client::OutboundClient;
use shared::delivery::telephony_receiver::TelephonyReceiver;
use shared::error::Error;
use shared::runtime::queue::{CallRetryQueue, WebhookQueue};
use shared::runtime::queue_consumer;
use shared::store::chats::Chats;
use shared::store::connections::circuit_breakers::CircuitBreakers;
use shared::store::directory::Directory;
use shared::wire::queue_task::Task;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    queue_consumer::run(handle).await
}

type Dependencies = (Directory, Chats, CircuitBreakers, CallRetryQueue, WebhookQueue, OutboundClient);

async fn handle(
    (directory, chats, breakers, retries, webhooks, outbound): Dependencies,
    task: Task,
) -> Result<(), Error> {
    let providers = TelephonyReceiver {
        directory: &directory,
        chats: &chats,
        outbound: &outbound,
        retries: &retries.0,
        webhooks: &webhooks,
    };
    match task {
        Task::Entry(task) => engine::run(&chats, &breakers, &retries.0, &providers, &task).await,
        Task::CallDue(task) => providers.check_time_limit(&task).await,
        Task::Typing(_) | Task::AnswerDue(_) => Err(Error::internal("unexpected kind of task in the call queue")),
    }
}
