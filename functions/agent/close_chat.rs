//! POST /agent/chats/{chat_id}/close: closes a chat that is assigned to the agent, or a chat that the agent can see and
//! that no agent has accepted. A bot that had the chat is notified with CHAT_CLOSED, and the webhooks are notified with
//! chat_finished. A repeated request gets the same response and sends no notifications.
//!
//! A rejected request, and a request for a chat that is already closed, make no write after authentication, except for
//! one that fails because of a concurrent request.

use std::process::ExitCode;

use shared::chats::agent::close_chat::close_chat;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::outbox::Outbox;
use shared::service::auth;
use shared::service::chat_access::ChatAccess;
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::agent::ClosedChat;

fn main() -> ExitCode {
    http::run(handle)
}

type Dependencies = (Directory, Chats, Connections, Outbox);

async fn handle((directory, chats, connections, outbox): Dependencies, request: Request) -> Result<Response, Error> {
    let caller = auth::agent(&connections, &request).await?;
    let (chat_id, now) = (request.path_number("chat_id")?, clock::now());
    let access = ChatAccess { directory: &directory, chats: &chats, session: &caller, now };
    let chat = access.chat(chat_id).await?;
    let settings = directory.cached_settings(&caller.account_id).await?;
    let closed = close_chat(&chats, chat, &caller.agent, &settings.webhooks, now).await?;
    outbox.enqueue(&closed.notifications).await;
    Ok(Response::ok(ClosedChat::new(chat_id)))
}
