//! Delivers agents' and bots' messages to integrators (specification, A-3). Two queues invoke this function: a FIFO
//! queue of first attempts, which preserves the order of each chat, and a retry queue of delayed tasks.
//!
//! An attempt costs these table and queue requests:
//! - entry and chat: one batch that reads both. An outdated task costs nothing more
//! - circuit breaker (while it is open, first attempts use the retry queue): at most one read before a first attempt,
//!   and only if an attempt of this process took at least a second and failed, and the receiver has not responded since
//! - receiver: one read of the channel, cached for ten seconds. After a response with 401 or 403, the next attempt
//!   does not use the cache, because the signing secret may have been replaced. If the response is a rejection, the
//!   channel is read again at once
//! - result: one write of the entry. If the delivery has failed, instead one read of the chat and one transaction that
//!   writes the entry and the report counters
//! - failed attempt: one queue request for the next attempt, if there is one, and at most one write that marks the
//!   receiver as failing in the chat's header. If the attempt took at least a second, the circuit breaker is updated,
//!   which costs at most one write, or up to three if the earlier failures have expired. The first success after a
//!   failure costs up to two writes: one removes the mark from the header, the other closes the circuit breaker
//!
//! A typing notice costs one read each of the chat, the agent and the channel (cached), and may cost the read of the
//! circuit breaker. It is dropped on any error. Any other task is sent to the retry queue if a table or a queue is
//! unavailable, which costs one queue request.

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
        Task::Entry(task) => engine::run(&chats, &breakers, &retries.0, &integrators, &task).await,
        Task::Typing(task) => {
            integrators.send_typing(&chats, &breakers, &task).await;
            Ok(())
        }
        Task::AnswerDue(_) | Task::CallDue(_) => Err(Error::internal("unexpected kind of task in the channel queue")),
    }
}
