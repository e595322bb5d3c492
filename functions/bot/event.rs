//! B-1, `POST {bot_base_url}/webhooks/<provider_id>/<token>`: an event of a provider. A BOT_MESSAGE is two writes and
//! one queue request.

use std::process::ExitCode;

use serde_json::json;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::queue::{self, BotQueue, ChannelQueue, WebhookQueue};
use shared::service::auth;
use shared::service::bot_events::Desk;
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::bot::{self, EventKind};
use shared::wire::task::Task;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    http::run(async |dependencies, request| {
        handle(dependencies, request).await.map_err(|error| Error::Bot(Box::new(error)))
    })
    .await
}

type Dependencies = (Directory, Chats, Connections, ChannelQueue, BotQueue, WebhookQueue);

async fn handle(
    (directory, chats, connections, to_channel, to_bot, to_webhook): Dependencies,
    request: Request,
) -> Result<Response, Error> {
    request.only("POST")?;
    let bot = auth::bot(&directory, &request).await?;
    let limits = directory.cached_settings(&bot.account_id).await?.limits;
    connections.take_bot_request(&bot.bot_id, limits.bot_requests, clock::now()).await?;
    let body = request.json()?;
    let event = bot::read(&body)?;
    let desk = Desk { bot: &bot, directory: &directory, chats: &chats, connections: &connections };
    match event.kind {
        EventKind::Message(content) => {
            let key = request.idempotency_key(|| format!("bot#{}", bot.bot_id), &body)?;
            let stored = desk.message(&event.route, *content, key.as_ref()).await?;
            if !stored.is_shown {
                return Ok(Response::ok(json!({ "result": "ok", "shown": false })).about(&stored.id));
            }
            to_channel.0.enqueue_stored(&Task::new_entry(&bot.account_id, stored.chat_id, stored.seq)).await;
            return Ok(done().about(&stored.id));
        }
        EventKind::InviteAgent => {
            let transition = desk.invite_agent(&event.route).await?;
            queue::enqueue_notifications(&transition.notifications, &to_bot, &to_webhook).await;
        }
        EventKind::ClientInfo(learned) => {
            let notifications = desk.client_info(&event.route, &learned).await?;
            queue::enqueue_notifications(&notifications, &to_bot, &to_webhook).await;
        }
    }
    Ok(done())
}

fn done() -> Response {
    Response::ok(json!({ "result": "ok" }))
}
