//! POST /agent/chats/{chat_id}/accept: the agent takes the chat, also from a bot, which is told AGENT_JOINED;
//! the webhooks are told chat_accepted. Of two
//! who press Reply together one gets 409.

use std::process::ExitCode;

use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::queue::{self, BotQueue, WebhookQueue};
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

type Dependencies = (Directory, Chats, Connections, BotQueue, WebhookQueue);

async fn handle(
    (directory, chats, connections, to_bot, to_webhook): Dependencies,
    request: Request,
) -> Result<Response, Error> {
    let caller = auth::agent(&connections, &request).await?;
    let now = clock::now();
    let access = ChatAccess { directory: &directory, chats: &chats, session: &caller, now };
    let chat = access.chat(request.number("chat_id")?).await?;
    let settings = directory.cached_settings(&caller.account_id).await?;
    let accepted = chats.accept(chat, &caller.agent, &settings.webhooks, now).await?;
    queue::enqueue_notifications(&accepted.notifications, &to_bot, &to_webhook).await;
    Ok(Response::ok(agent::chat_row(accepted.chat, &settings.safe_urls)))
}
