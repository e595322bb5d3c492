//! Places phone calls through the telephony providers of accounts (docs/telephony.md), and ends calls whose provider
//! has stopped reporting. Two queues invoke this function: a FIFO queue of first attempts, and a retry queue of delayed
//! tasks.

use std::process::ExitCode;

use shared::delivery::engine;
use shared::delivery::outbound_client::OutboundClient;
use shared::delivery::telephony_receiver::TelephonyReceiver;
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
    let providers = TelephonyReceiver { directory: &directory, chats: &chats, outbound: &outbound, outbox: &outbox };
    match task {
        Task::Entry(task) => engine::run(&chats, &breakers, &outbox, &providers, &task).await,
        Task::CallDue(task) => providers.check_time_limit(&task).await,
        Task::Typing(_)
        | Task::AnswerDue(_)
        | Task::AgentWaitDue(_)
        | Task::StandbyCopy(_)
        | Task::Outage(_)
        | Task::Assignment(_)
        | Task::AnswerTimer(_)
        | Task::Email(_) => Err(Error::internal("unexpected kind of task in the call queue")),
    }
}
