//! PATCH /agent/visitors/{number}: corrects the profile of a visitor, or changes whether the visitor is blacklisted.
//! Messages from a blacklisted visitor are accepted and dropped. If an agent has the visitor's chat, the webhooks are
//! notified with chat_updated. Those that name the event get visitor_blacklisted.

use std::process::ExitCode;

use shared::chats::notifications::NotificationContext;
use shared::chats::visitor::update_visitor::update_visitor_and_notify;
use shared::domain::accounts::audit::{AuditAction, AuditedChange, AuditedKind};
use shared::domain::visitors::visitor::ProfileSource;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::outbox::Outbox;
use shared::service::chat_access::ChatAccess;
use shared::service::{audit, auth};
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::agent::{Visitor, VisitorChanges};

fn main() -> ExitCode {
    http::run(handle)
}

type Dependencies = (Directory, Chats, Connections, Outbox);

async fn handle((directory, chats, connections, outbox): Dependencies, request: Request) -> Result<Response, Error> {
    let caller = auth::agent(&connections, &request).await?;
    let changes: VisitorChanges = request.body_as()?;
    let (blacklisted, profile) = (changes.blacklisted, changes.into_profile());
    let now = clock::now();
    let access = ChatAccess { directory: &directory, chats: &chats, session: &caller, now };
    let mut visitor = access.visitor(request.path_number("number")?).await?;
    if let Some(blacklisted) = blacklisted.filter(|blacklisted| *blacklisted != visitor.blacklisted) {
        let action = if blacklisted { AuditAction::Blacklisted } else { AuditAction::Unblacklisted };
        let change = AuditedChange::unnamed(action, AuditedKind::Visitor, visitor.number.to_string());
        audit::by_agent(&directory, &caller, &request).record(&caller.account_id, change).await?;
    }
    visitor.merge_profile(&profile, ProfileSource::Agent);
    visitor.set_blacklisted(blacklisted.unwrap_or(visitor.blacklisted));
    let settings = directory.cached_settings(&caller.account_id).await?;
    let context = NotificationContext { webhooks: &settings.webhooks, agent_id: Some(caller.agent.agent_id), now };
    let events = update_visitor_and_notify(&chats, &visitor, &context).await?;
    outbox.enqueue(&events).await;
    Ok(Response::ok(Visitor::new(visitor, &settings.safe_urls)))
}
