//! Assigns the waiting chats of an account to its agents (docs/design.md, Assignment). Two queues invoke this function:
//! a FIFO queue with one message group for each account, and a queue of delayed tasks, which end offers. Also begins
//! and ends the time limits of agents' answers, and tells webhooks when an answer is due soon.

use std::process::ExitCode;

use shared::error::Error;
use shared::runtime::outbox::Outbox;
use shared::runtime::queue_consumer;
use shared::service::answer_timers::AnswerTimers;
use shared::service::assignment::ChatAssigner;
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::queue_task::Task;

fn main() -> ExitCode {
    queue_consumer::run(handle)
}

type Dependencies = (Directory, Chats, Connections, Outbox);

async fn handle((directory, chats, connections, outbox): Dependencies, task: Task) -> Result<(), Error> {
    let assigner = ChatAssigner { directory: &directory, chats: &chats, connections: &connections, outbox: &outbox };
    let timers = AnswerTimers { directory: &directory, chats: &chats, outbox: &outbox };
    match task {
        Task::Assignment(task) => assigner.run(&task).await,
        Task::AnswerTimer(task) => timers.run(&task).await,
        Task::Entry(_)
        | Task::Typing(_)
        | Task::AnswerDue(_)
        | Task::AgentWaitDue(_)
        | Task::CallDue(_)
        | Task::StandbyCopy(_)
        | Task::Outage(_)
        | Task::Email(_) => Err(Error::internal("unexpected kind of task in the queue of assignment")),
    }
}
