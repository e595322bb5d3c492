//! `POST {bot_base_url}/webhooks/<provider_id>/<token>` (specification, B-1): receives an event from a bot. Error
//! responses contain the codes of the Bot API; see `shared::wire::bots::bot_error`.
//!
//! If the bot does not have the chat, the table rejects the write of the chat, and the message is rejected with 403 or
//! 400.

use std::process::ExitCode;

use serde_json::Value;
use shared::chats::bot::receive_bot_message::BotMessageResult;
use shared::delivery::socket_gateway::SocketGateway;
use shared::domain::chats::chat::Chat;
use shared::domain::deliveries::delivery::Target;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::file_bucket::FileBucket;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::outbox::Outbox;
use shared::runtime::public_base_url::PublicBaseUrl;
use shared::service::auth;
use shared::service::events_from_bots::BotEventHandler;
use shared::service::file_links::FileLinks;
use shared::service::uploads::FileReceiver;
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::bots::bot::{self, BotEvent, BotEventKind};
use shared::wire::bots::bot_api::{BotEventAccepted, SupersededAnswer};
use shared::wire::bots::bot_error::BotApiError;
use shared::wire::queue_task::Task;

fn main() -> ExitCode {
    http::run(handle)
}

type Dependencies = (Directory, Chats, Connections, Outbox, SocketGateway, FileBucket, PublicBaseUrl);

async fn handle(dependencies: Dependencies, request: Request) -> Result<Response, BotApiError> {
    let (directory, chats, connections, outbox, gateway, bucket, url) = dependencies;
    request.require_method("POST")?;
    let bot = auth::bot(&directory, &connections, &request).await?;
    let settings = directory.cached_settings(&bot.account_id).await?;
    connections.count_bot_request(&bot.bot_id, settings.limits.bot_requests, clock::now()).await?;
    settings.require_not_suspended().map_err(Error::from)?;
    let body = request.json()?;
    let event = bot::parse_event(&body)?;
    let events = BotEventHandler { bot: &bot, directory: &directory, chats: &chats, connections: &connections };
    let links = FileLinks { directory: &directory, base_url: url.of_request(&request), now: clock::now() };
    let files = FileReceiver { bucket: &bucket, links, path: "message." };
    let handled = handle_event(&events, (&outbox, &gateway, &files), &request, (&event, &body)).await;
    let response = match (handled, event.reply_to_seq) {
        // The bot gets what it has not taken into account.
        (Err(BotApiError::Common(Error::Superseded)), Some(seq)) => {
            let (newer, up_to_seq) = events.newer_messages(&event.chat, seq).await?;
            if matches!(event.kind, BotEventKind::Message(_) | BotEventKind::InviteAgent(_)) {
                events.count_superseded_answer(&event.chat).await;
            }
            Response::conflict(SupersededAnswer::new(&newer, up_to_seq))
        }
        (handled, _) => handled?,
    };
    // The provider's own id of the event connects the log line with the provider's log.
    Ok(response.with_logged_caller_message_id(event.chat.id))
}

async fn handle_event(
    events: &BotEventHandler<'_>,
    (outbox, gateway, files): (&Outbox, &SocketGateway, &FileReceiver<'_>),
    request: &Request,
    (event, body): (&BotEvent, &Value),
) -> Result<Response, BotApiError> {
    let bot = events.bot;
    let key = || request.idempotency_key(|| format!("bot#{}", bot.bot_id), body);
    Ok(match &event.kind {
        BotEventKind::Message(content) => {
            match events.bot_message(&event.chat, content, files, event.reply_to_seq, key()?.as_ref()).await? {
                BotMessageResult::Stored { receipt: stored, notifications } => {
                    outbox.enqueue_message(&bot.account_id, &stored).await;
                    outbox.enqueue(&notifications).await;
                    let is_shown = stored.is_displayable;
                    let accepted = if is_shown { BotEventAccepted::ok() } else { BotEventAccepted::not_shown() };
                    Response::ok(accepted).with_logged_message_id(&stored.id)
                }
                BotMessageResult::Duplicate { earlier_id } => {
                    Response::ok(BotEventAccepted::duplicate()).with_logged_message_id(&earlier_id)
                }
            }
        }
        BotEventKind::InviteAgent(invitation) => {
            let key = key()?;
            let invited = events.invite_agent(&event.chat, invitation, event.reply_to_seq, key.as_ref()).await?;
            if let Some(transition) = invited {
                outbox.enqueue(&transition.notifications).await;
                queue_return(outbox, &transition.chat).await;
            }
            Response::ok(BotEventAccepted::ok())
        }
        BotEventKind::CloseChat { text } => {
            if let Some(transition) = events.close_chat(&event.chat, text.as_deref(), key()?.as_ref()).await? {
                outbox.enqueue(&transition.notifications).await;
            }
            Response::ok(BotEventAccepted::ok())
        }
        BotEventKind::Growing { text } => {
            let answer = (text.as_str(), event.reply_to_seq);
            let is_stopped = events.show_growing_answer(&event.chat, answer, outbox, gateway).await?;
            Response::ok(BotEventAccepted::growing(is_stopped))
        }
        BotEventKind::Draft { text } => {
            events.suggest_answer(&event.chat, (text, event.reply_to_seq)).await?;
            Response::ok(BotEventAccepted::ok())
        }
        BotEventKind::Typing(typing) => {
            events.send_typing_notice(&event.chat, *typing, outbox, gateway).await?;
            Response::ok(BotEventAccepted::ok())
        }
        BotEventKind::ClientInfo(profile) => {
            let notifications = events.handle_client_info(&event.chat, profile).await?;
            outbox.enqueue(&notifications).await;
            Response::ok(BotEventAccepted::ok())
        }
    })
}

/// Queues the task that returns the chat to the bot if no agent accepts it in time. An error is only logged, because
/// the idle check of the chat does the same.
async fn queue_return(outbox: &Outbox, chat: &Chat) {
    let Some(return_at) = chat.return_at() else { return };
    let (task, wait) = (Task::agent_wait_due(&chat.account_id, chat.chat_id), return_at.since(chat.updated_at));
    if let Err(error) = outbox.send_delayed(Target::Bot, &task, wait).await {
        tracing::warn!(context = error.context(), chat.account_id, chat.chat_id, "return of the chat not queued");
    }
}
