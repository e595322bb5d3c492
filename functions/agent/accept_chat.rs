//! POST /agent/chats/{chat_id}/accept: assigns a waiting chat, or a chat that a bot has, to the agent. The chat's bot
//! is notified with AGENT_JOINED, and the webhooks are notified with chat_accepted. If two agents accept the chat
//! concurrently, one of them gets 409, and so does an agent who has as many chats as the capacity allows.
//!
//! A rejected request makes no write after authentication, except for one that fails because of a concurrent request.

use std::process::ExitCode;

use shared::chats::agent::accept_chat::accept_chat;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::outbox::Outbox;
use shared::service::assignment::slot_claim;
use shared::service::auth;
use shared::service::chat_access::ChatAccess;
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::agent::ChatRow;

fn main() -> ExitCode {
    http::run(handle)
}

type Dependencies = (Directory, Chats, Connections, Outbox);

async fn handle((directory, chats, connections, outbox): Dependencies, request: Request) -> Result<Response, Error> {
    let caller = auth::agent(&connections, &request).await?;
    let now = clock::now();
    let access = ChatAccess { directory: &directory, chats: &chats, session: &caller, now };
    let chat = access.chat(request.path_number("chat_id")?).await?;
    let settings = directory.cached_settings(&caller.account_id).await?;
    let claim = slot_claim(&directory, &settings, &caller.account_id, caller.agent.agent_id).await?;
    let accepted = accept_chat(&chats, chat, (&caller.agent, claim), &settings.webhooks, now).await?;
    outbox.enqueue(&accepted.notifications).await;
    Ok(Response::ok(ChatRow::new(accepted.chat, &settings.safe_urls, now)))
}
