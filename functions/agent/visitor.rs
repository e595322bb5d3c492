//! PATCH /agent/visitors/{number}: the agent corrects what is known of a visitor, or blacklists them: then their
//! messages are accepted and dropped. Told as chat_updated while an agent has their chat.

use std::process::ExitCode;

use shared::domain::visitor::Source;
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
    let (learned, blacklisted) = agent::visitor_changes(&request.json()?)?;
    let now = clock::now();
    let access = ChatAccess { directory: &directory, chats: &chats, session: &caller, now };
    let mut visitor = access.visitor(request.number("number")?).await?;
    visitor.learn(&learned, Source::Agent);
    visitor.blacklist(blacklisted.unwrap_or(visitor.blacklisted));
    let settings = directory.cached_settings(&caller.account_id).await?;
    let events = chats.save_and_tell(&visitor, &settings.webhooks, now).await?;
    queue.enqueue_events(&events).await;
    Ok(Response::ok(agent::visitor(visitor, &settings.safe_urls)))
}
