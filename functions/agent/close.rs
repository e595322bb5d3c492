//! POST /agent/chats/{chat_id}/close: ends the agent's chat, or one that no agent has and that is offered to them. A bot
//! that stood in front of it is told CHAT_CLOSED, the webhooks chat_finished.

use std::process::ExitCode;

use serde_json::json;
use shared::domain::account::Role;
use shared::error::Error;
use shared::http::{self, Request, Response};
use shared::queue::{self, BotQueue, WebhookQueue};
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::{auth, clock};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    http::run(handle).await
}

type Uses = (Directory, Chats, Connections, BotQueue, WebhookQueue);

async fn handle(
    (directory, chats, connections, to_bot, to_webhook): Uses,
    request: Request,
) -> Result<Response, Error> {
    let caller = auth::agent(&connections, &request).await?;
    let chat_id = request.number("chat_id")?;
    let chat = chats.chat(&caller.account_id, chat_id).await?.ok_or(Error::NotFound)?;
    if caller.role != Role::Admin && !directory.may_take(&caller, &chat).await? {
        return Err(Error::Forbidden("the chat is offered to other agents"));
    }
    let settings = directory.cached_settings(&caller.account_id).await?;
    let closed = chats.close(chat, &caller.agent, &settings.webhooks, clock::now()).await?;
    queue::enqueue_notifications(&closed.told, &to_bot, &to_webhook).await;
    Ok(Response::ok(json!({ "chat_id": chat_id, "state": "closed" })))
}
