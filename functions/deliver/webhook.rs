//! Delivers events to the webhooks of accounts (part C). Fed by two queues: a FIFO queue with the first attempts,
//! which preserves the order of each chat, and a retry queue with delayed tasks.
//!
//! Table and queue requests of an attempt:
//! - entry and chat: one batch that reads both. A task that is no longer current ends here
//! - circuit breaker: one read before a first attempt, if the receiver has failed in this process and has not answered
//!   since
//! - receiver: one read of the settings, cached for ten seconds, and uncached if the webhook is missing there
//! - event: one read of the visitor, one batch that reads the agents, and another for deleted agents. chat_finished
//!   also costs one query for each megabyte of the timeline, and one read of the panel if the chat began with an
//!   invitation; offline_message one query
//! - answer: nothing if it contains no data; else one read of the chat, one write of the panel, and for contact
//!   details one read and up to two writes of visitor and chat. The answer to chat_assigned, and its last failed
//!   attempt, costs one read of the chat and one write of the panel
//! - result: one write of the entry
//! - failed attempt: one queue request for the next one, one write that marks the chat as failing, and one that counts
//!   a slow failure for the circuit breaker (up to three if its failures have expired). An answer after a failure costs
//!   one write for the mark and one for the breaker
//!
//! If a table or a queue is unavailable, the task goes to the retry queue: one queue request.

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
        Task::TimelineEntry(task) => engine::run(&chats, &breakers, &retries.0, &webhooks, &task).await,
        Task::Typing(_) | Task::AnswerDue(_) => {
            Err(Error::internal("task of another kind in the queue of webhook deliveries"))
        }
    }
}
