//! Sends the e-mails about a chat: its transcript, and the answers of agents to a visitor who has left. A queue invokes
//! this function with delayed tasks, which `deliver-push` adds when a chat changes.

use std::process::ExitCode;

use shared::error::Error;
use shared::runtime::email_sender::EmailSender;
use shared::runtime::outbox::Outbox;
use shared::runtime::queue_consumer;
use shared::service::chat_emails::ChatEmailService;
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::queue_task::Task;

fn main() -> ExitCode {
    queue_consumer::run(handle)
}

type Dependencies = (Directory, Chats, Connections, EmailSender, Outbox);

async fn handle((directory, chats, connections, sender, outbox): Dependencies, task: Task) -> Result<(), Error> {
    let (directory, chats, connections) = (&directory, &chats, &connections);
    let service = ChatEmailService { directory, chats, connections, sender: &sender, outbox: &outbox };
    match task {
        Task::Email(task) => service.run(&task).await,
        Task::Entry(_)
        | Task::Typing(_)
        | Task::AnswerDue(_)
        | Task::AgentWaitDue(_)
        | Task::CallDue(_)
        | Task::StandbyCopy(_)
        | Task::Outage(_)
        | Task::Assignment(_)
        | Task::AnswerTimer(_) => Err(Error::internal("unexpected kind of task in the queue of e-mails")),
    }
}
