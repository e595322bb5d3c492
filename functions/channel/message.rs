//! A-2, `POST {base_url}/<random_string>/<CHANNEL_PUBLIC_ID>`: a visitor writes, or starts or stops typing.
//! Answers 200 when the message is stored; while a bot has the chat, it is queued for the bot too. On an open
//! chat: two reads, two writes and, for the bot, one queue request. A refused message is counted: one write at most.

use std::process::ExitCode;

use serde_json::json;
use shared::domain::channel::Channel;
use shared::domain::content::Typing;
use shared::domain::timestamp::Timestamp;
use shared::error::Error;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::queue::{self, BotQueue, WebhookQueue};
use shared::runtime::{clock, secret};
use shared::store::chats::Chats;
use shared::store::chats::idempotency::Answered;
use shared::store::chats::visitor_messages::Incoming;
use shared::store::directory::{self, Directory};
use shared::wire::content::Message;
use shared::wire::task::Task;
use shared::wire::visitor_message::{self, VisitorMessage};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    http::run(handle).await
}

type Dependencies = (Directory, Chats, BotQueue, WebhookQueue);

/// The largest body, in bytes: a text is cut to its limit rather than refused.
const MAX_BODY_BYTES: usize = 1024 * 1024;

async fn handle(dependencies: Dependencies, request: Request) -> Result<Response, Error> {
    request.only("POST")?;
    let now = clock::now();
    let (directory, chats, ..) = &dependencies;
    let channel = directory.cached_channel(&request.segment("channel_id")).await?;
    let is_open = directory::opens(channel.as_deref(), &request.segment("secret"), now);
    let channel = channel.filter(|_| is_open).ok_or(Error::NotFound)?;
    let result = receive(&dependencies, &channel, &request, now).await;
    if let Err(refused) = &result {
        chats.count_refusal(&channel.channel_id, refused, now).await;
    }
    result
}

/// Takes a message that came to a valid address.
async fn receive(
    dependencies: &Dependencies,
    channel: &Channel,
    request: &Request,
    now: Timestamp,
) -> Result<Response, Error> {
    let (directory, chats, to_bot, to_webhook) = dependencies;
    if !channel.settings.enabled {
        return Err(Error::ChannelDisabled);
    }
    let body = request.json_up_to(MAX_BODY_BYTES)?;
    let received = visitor_message::read(&body, channel.is_lenient())?;
    let VisitorMessage { ref external_id, has_numeric_id, ref profile, ref invite, message, their_id } = received;
    let key = request.idempotency_key(|| format!("{}#{}", channel.channel_id, secret::hex_hash(external_id)), &body)?;
    let key = key.as_ref();
    match message {
        Message::Content(ref content) => {
            let settings = &directory.cached_settings(&channel.account_id).await?;
            let department = directory.department_of(channel).await?;
            let department = department.as_ref();
            let incoming = Incoming {
                channel,
                department,
                external_id,
                has_numeric_id,
                invite: invite.as_deref(),
                profile,
                content,
                settings,
                key,
                now,
            };
            let Some(received) = chats.visitor_message(&incoming).await? else { return Ok(done()) };
            let Answered { chat_id, seq, to_bot: is_for_bot, .. } = received.answered;
            if is_for_bot {
                to_bot.0.enqueue_stored(&Task::new_entry(&channel.account_id, chat_id, seq)).await;
            }
            queue::enqueue_notifications(&received.notifications, to_bot, to_webhook).await;
            return Ok(done().about(&received.answered.id).known_as(their_id));
        }
        Message::Typing(Typing::Start) => chats.visitor_typing(channel, external_id, Some(now)).await?,
        Message::Typing(Typing::End) => chats.visitor_typing(channel, external_id, None).await?,
    }
    Ok(done())
}

fn done() -> Response {
    Response::ok(json!({ "result": "ok" }))
}
