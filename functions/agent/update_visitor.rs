//! PATCH /agent/visitors/{number}: corrects the profile of a visitor, or blacklists the visitor, whose messages are
//! then accepted and dropped. If an agent has the visitor's chat, the webhooks are notified with chat_updated.
//!
//! Table and queue requests:
//! - session: one read; at most once a minute also two writes, to the session and the agent's presence
//! - visitor: two reads
//! - visibility, only for an agent without the admin role: one read of the visitor's chat; if the agent does not have
//!   it, also its channel (one read) and the roster (one query), both cached for ten seconds; the roster is queried
//!   again if the cached one may be outdated. A refusal with 403 ends here
//! - settings: one read, cached for ten seconds
//! - change: nothing if no field changes, else one write of the visitor. If the visitor has an open chat, a changed
//!   name or a subscribed webhook costs one write of the chat before, or two if no agent has it; with notifications
//!   the visitor and an entry for each webhook are one transaction
//! - queue: one request for each webhook

use std::process::ExitCode;

use shared::domain::visitor::ProfileSource;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::queue::WebhookQueue;
use shared::service::auth;
use shared::service::chat_access::ChatAccess;
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::agent;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    http::run(handle).await
}

type Dependencies = (Directory, Chats, Connections, WebhookQueue);

async fn handle((directory, chats, connections, queue): Dependencies, request: Request) -> Result<Response, Error> {
    let caller = auth::agent(&connections, &request).await?;
    let (profile, blacklisted) = agent::parse_visitor_patch(&request.json()?)?;
    let now = clock::now();
    let access = ChatAccess { directory: &directory, chats: &chats, session: &caller, now };
    let mut visitor = access.visitor(request.path_number("number")?).await?;
    visitor.merge_profile(&profile, ProfileSource::Agent);
    visitor.set_blacklisted(blacklisted.unwrap_or(visitor.blacklisted));
    let settings = directory.cached_settings(&caller.account_id).await?;
    let events = chats.save_visitor_and_notify(&visitor, &settings.webhooks, now).await?;
    queue.enqueue_webhook_events(&events).await;
    Ok(Response::ok(agent::visitor_json(visitor, &settings.safe_urls)))
}
