//! POST /agent/chats/{chat_id}/close: ends the agent's chat, or one that no agent has and that is offered to them. A bot
//! that stood in front of it is told CHAT_CLOSED, the webhooks chat_finished. A repeated request gets the same answer and
//! tells nobody again.

use std::process::ExitCode;

use serde_json::json;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::queue::{self, BotQueue, WebhookQueue};
use shared::service::auth;
use shared::service::chat_access::ChatAccess;
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    http::run(handle).await
}

type Dependencies = (Directory, Chats, Connections, BotQueue, WebhookQueue);

async fn handle(
    (directory, chats, connections, to_bot, to_webhook): Dependencies,
    request: Request,
) -> Result<Response, Error> {
    let caller = auth::agent(&connections, &request).await?;
    let (chat_id, now) = (request.number("chat_id")?, clock::now());
    let access = ChatAccess { directory: &directory, chats: &chats, session: &caller, now };
    let chat = access.chat(chat_id).await?;
    let settings = directory.cached_settings(&caller.account_id).await?;
    let closed = chats.close(chat, &caller.agent, &settings.webhooks, now).await?;
    queue::enqueue_notifications(&closed.notifications, &to_bot, &to_webhook).await;
    Ok(Response::ok(json!({ "chat_id": chat_id, "state": "closed" })))
}
