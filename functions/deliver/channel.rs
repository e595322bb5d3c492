//! Delivers agents' and bots' messages to integrators (specification, A-3). Two queues invoke this function: a FIFO
//! queue of first attempts, which preserves the order of each chat, and a retry queue of delayed tasks.

use std::process::ExitCode;

use shared::delivery::engine;
use shared::delivery::integrator_receiver::IntegratorReceiver;
use shared::delivery::late_delivery::LateDelivery;
use shared::delivery::outbound_client::OutboundClient;
use shared::error::Error;
use shared::runtime::outbox::Outbox;
use shared::runtime::queue_consumer;
use shared::store::chats::Chats;
use shared::store::connections::circuit_breakers::CircuitBreakers;
use shared::store::directory::Directory;
use shared::wire::queue_task::Task;

fn main() -> ExitCode {
    queue_consumer::run(handle)
}

type Dependencies = (Directory, Chats, CircuitBreakers, Outbox, OutboundClient);

async fn handle((directory, chats, breakers, outbox, outbound): Dependencies, task: Task) -> Result<(), Error> {
    let integrators = IntegratorReceiver { directory: &directory, outbound: &outbound };
    match task {
        Task::Entry(task) => engine::run(&chats, &breakers, &outbox, &integrators, &task).await,
        Task::Outage(task) => LateDelivery { chats: &chats, outbox: &outbox, receiver: &integrators }.run(task).await,
        Task::Typing(task) => {
            integrators.send_typing(&chats, &breakers, &task).await;
            Ok(())
        }
        Task::AnswerDue(_)
        | Task::AgentWaitDue(_)
        | Task::CallDue(_)
        | Task::StandbyCopy(_)
        | Task::Assignment(_)
        | Task::AnswerTimer(_)
        | Task::Email(_) => Err(Error::internal("unexpected kind of task in the channel queue")),
    }
}
