//! `POST {bot_base_url}/webhooks/<provider_id>/<token>` (specification, B-1): receives an event from a bot. Error
//! responses contain the codes of the Bot API; see `shared::wire::bot_error`.
//!
//! Costs these table and queue requests:
//! - provider, bot and settings: up to four reads, all cached for ten seconds. A request that is rejected with 401 or
//!   404 costs nothing more
//! - rate limit: one write for every tenth request from a bot in each process
//! - finding the chat: no read if the event contains only the `chat_id`. One read if it contains the `chat_id` and the
//!   `client_id`, or only the id of a CLIENT_MESSAGE. Two reads if it contains only the `client_id`
//! - BOT_MESSAGE: one read if there is an idempotency key. Then one write of the chat, and one write of the entry (a
//!   transaction if there is an idempotency key). One queue request if the channel has an integrator and can display
//!   the message. A message that plain channels cannot display also costs one read of the chat and one of the channel
//!   (cached). If the visitor's last message was sent to the bot more than once, also one query of entries and a second
//!   write of the chat; a message that repeats an earlier one is then not stored
//! - INVITE_AGENT: two reads of the chat, one read of the channel (cached), one query of the roster (the account's
//!   agents and departments; cached) if the channel names agents or departments, and one query of the agents' presence.
//!   One write of the chat; if no agent is online, this is a transaction with a notification, which costs one queue
//!   request
//! - CLIENT_INFO: if the event contains only the `client_id`, nothing more is read. Otherwise one read each of the chat
//!   and the visitor. Changing the visitor costs as much as in `functions/agent/update_visitor.rs`, including one queue
//!   request for each webhook
//!
//! If the bot does not have the chat, the table rejects the write of the chat, and the message is rejected with 403 or
//! 400.

use std::process::ExitCode;

use serde_json::json;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::queue::{self, BotQueue, ChannelQueue, WebhookQueue};
use shared::service::auth;
use shared::service::events_from_bots::BotEventHandler;
use shared::store::chats::Chats;
use shared::store::chats::bot_messages::BotMessageResult;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::bot::{self, BotEventKind};
use shared::wire::bot_error::BotApiError;
use shared::wire::queue_task::Task;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    http::run(handle).await
}

type Dependencies = (Directory, Chats, Connections, ChannelQueue, BotQueue, WebhookQueue);

async fn handle(
    (directory, chats, connections, channel_queue, bot_queue, webhook_queue): Dependencies,
    request: Request,
) -> Result<Response, BotApiError> {
    request.require_method("POST")?;
    let bot = auth::bot(&directory, &connections, &request).await?;
    let settings = directory.cached_settings(&bot.account_id).await?;
    connections.count_bot_request(&bot.bot_id, settings.limits.bot_requests, clock::now()).await?;
    settings.require_not_suspended()?;
    let body = request.json()?;
    let event = bot::parse_event(&body)?;
    let events = BotEventHandler { bot: &bot, directory: &directory, chats: &chats, connections: &connections };
    let response = match &event.kind {
        BotEventKind::Message(content) => {
            let key = request.idempotency_key(|| format!("bot#{}", bot.bot_id), &body)?;
            match events.bot_message(&event.chat, content, key.as_ref()).await? {
                BotMessageResult::Stored(stored) => {
                    if stored.is_for_channel {
                        let task = Task::first_attempt_of_new_entry(&bot.account_id, stored.chat_id, stored.seq);
                        channel_queue.0.enqueue_or_leave_to_sweep(&task).await;
                    }
                    let response = if stored.is_displayable { ok_response() } else { not_shown_response() };
                    response.with_logged_message_id(&stored.id)
                }
                BotMessageResult::Duplicate { earlier_id } => {
                    Response::ok(json!({ "result": "ok", "duplicate": true })).with_logged_message_id(&earlier_id)
                }
            }
        }
        BotEventKind::InviteAgent => {
            let transition = events.invite_agent(&event.chat).await?;
            queue::enqueue_notifications(&transition.notifications, &bot_queue, &webhook_queue).await;
            ok_response()
        }
        BotEventKind::ClientInfo(profile) => {
            let notifications = events.handle_client_info(&event.chat, profile).await?;
            queue::enqueue_notifications(&notifications, &bot_queue, &webhook_queue).await;
            ok_response()
        }
    };
    // The provider's own id of the event connects the log line with the provider's log.
    Ok(response.with_logged_caller_message_id(event.chat.id))
}

fn ok_response() -> Response {
    Response::ok(json!({ "result": "ok" }))
}

fn not_shown_response() -> Response {
    Response::ok(json!({ "result": "ok", "shown": false }))
}
