//! Pushes changes to the sockets of agents and of widgets' visitors. The streams of the tables invoke this function,
//! usually within 300 ms of a change: Chats (headers, entries, panels and visitors), Connections (presence, and
//! sessions that have ended) and Directory (channels, and items of accounts such as settings, agents and departments).
//! Also notifies browsers in which the console is closed, queues copies of new messages for bots on standby, and queues
//! the assignment of waiting chats, the time limits of answers, and e-mails.

use std::process::ExitCode;

use shared::delivery::outbound_client::OutboundClient;
use shared::delivery::socket_gateway::SocketGateway;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::outbox::Outbox;
use shared::runtime::table_stream::{self, ItemChange};
use shared::service::answer_timers::AnswerChange;
use shared::service::assignment_triggers::AssignmentTriggers;
use shared::service::email_triggers::EmailTrigger;
use shared::service::push::PushService;
use shared::service::standby::{NewMessage, StandbyCopies};
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::store::table_changes::ParsedChanges;

fn main() -> ExitCode {
    table_stream::run(handle)
}

type Dependencies = (Connections, Directory, Chats, SocketGateway, OutboundClient, Outbox);

async fn handle(dependencies: Dependencies, changes: Vec<ItemChange>) -> Result<(), Error> {
    let (connections, directory, chats, gateway, client, outbox) = &dependencies;
    let changes = ParsedChanges::of(changes);
    let (new_messages, now) = (NewMessage::announced_by(&changes), clock::now());
    let (triggers, answers) = (AssignmentTriggers::of(&changes, now), AnswerChange::all_of(&changes));
    let (emails, browsers) = (EmailTrigger::all_of(&changes), Some(client));
    // The tasks are queued before the pushes, so that no slow client delays an assignment.
    let queued = triggers.queue(directory, outbox, now).await;
    let queued = queued.and(AnswerChange::queue(answers, directory, outbox).await);
    let queued = queued.and(EmailTrigger::queue(emails, directory, outbox).await);
    let pushed = PushService { directory, chats, connections, gateway, browsers, now }.push(changes).await;
    StandbyCopies { directory, outbox }.queue(&new_messages).await;
    queued.and(pushed)
}
