//! Delivers agents' and bots' messages to integrators. Fed by two queues: a FIFO queue with the first attempts,
//! which preserves the order of each chat, and a retry queue with delayed tasks.
//!
//! Table and queue requests of an attempt:
//! - entry and chat: one batch that reads both. A task that is no longer current ends here
//! - circuit breaker: one read before a first attempt, if the receiver has failed in this process and has not answered
//!   since
//! - receiver: one read of the channel, cached for ten seconds
//! - result: one write of the entry
//! - failed attempt: one queue request for the next one, one write that marks the chat as failing, and one that counts
//!   a slow failure for the circuit breaker (up to three if its failures have expired). An answer after a failure costs
//!   one write for the mark and one for the breaker
//!
//! A typing notice costs one read of the chat, one of the agent and one of the channel (cached), and it is dropped on
//! any error. If a table or a queue is unavailable, the task goes to the retry queue: one queue request.

use std::process::ExitCode;

use shared::delivery::engine;
use shared::delivery::integrator_receiver::IntegratorReceiver;
use shared::delivery::outbound_client::OutboundClient;
use shared::error::Error;
use shared::runtime::queue::ChannelRetryQueue;
use shared::runtime::queue_consumer;
use shared::store::chats::Chats;
use shared::store::connections::circuit_breakers::CircuitBreakers;
use shared::store::directory::Directory;
use shared::wire::queue_task::Task;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    queue_consumer::run(handle).await
}

type Dependencies = (Directory, Chats, CircuitBreakers, ChannelRetryQueue, OutboundClient);

async fn handle((directory, chats, breakers, retries, outbound): Dependencies, task: Task) -> Result<(), Error> {
    let integrators = IntegratorReceiver { directory: &directory, outbound: &outbound };
    match task {
        Task::TimelineEntry(task) => engine::run(&chats, &breakers, &retries.0, &integrators, &task).await,
        Task::Typing(task) => {
            integrators.send_typing(&chats, &breakers, &task).await;
            Ok(())
        }
        Task::AnswerDue(_) => Err(Error::internal("answer check in the queue of channel deliveries")),
    }
}
