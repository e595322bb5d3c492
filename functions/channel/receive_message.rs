//! `POST {base_url}/<random_string>/<CHANNEL_PUBLIC_ID>` (specification, A-2): receives a visitor's message or typing
//! notice. A 200 response means that the message is stored, unless the visitor is blacklisted. If a bot has the chat,
//! the message is also queued for the bot. A message with `message.edits` replaces the text of an earlier one.
//!
//! If a concurrent request changes the chat, the reads and writes are repeated. A rejected message is counted, usually
//! with one write. Each process makes at most 20 such writes per channel in ten seconds, and adds up the further counts
//! in memory.

use std::process::ExitCode;

use shared::chats::visitor::edit_visitor_text::{VisitorEdit, edit_visitor_text};
use shared::chats::visitor::receive_visitor_text::{VisitorText, receive_visitor_text};
use shared::chats::visitor::set_visitor_typing::set_visitor_typing;
use shared::chats::visitor::visitor_entry::FromVisitor;
use shared::domain::channels::channel::Channel;
use shared::domain::chats::message_content::TypingNotice;
use shared::domain::sha256;
use shared::domain::timestamp::Timestamp;
use shared::domain::visitors::visitor::ProfileSource;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::outbox::Outbox;
use shared::store::chats::Chats;
use shared::store::directory::Directory;
use shared::wire::channels::channel_api::AcceptedVisitorMessage;
use shared::wire::channels::message_content::ParsedMessage;
use shared::wire::channels::visitor_message::{self, VisitorMessage};

fn main() -> ExitCode {
    http::run(handle)
}

type Dependencies = (Directory, Chats, Outbox);

/// Larger than the limit of the other endpoints (128 KB), because a long text is truncated rather than rejected.
const MAX_BODY_BYTES: usize = 1024 * 1024;

async fn handle(dependencies: Dependencies, request: Request) -> Result<Response, Error> {
    request.require_method("POST")?;
    let now = clock::now();
    let (directory, chats, ..) = &dependencies;
    let (channel_id, secret) = (request.path_segment("channel_id"), request.path_segment("secret"));
    let channel = directory.channel_at_endpoint(&channel_id, &secret, now).await?;
    let result = receive_message(&dependencies, &channel, &request, now).await;
    if let Err(error) = &result {
        chats.count_refusal(&channel.channel_id, error, now).await;
    }
    result
}

async fn receive_message(
    dependencies: &Dependencies,
    channel: &Channel,
    request: &Request,
    now: Timestamp,
) -> Result<Response, Error> {
    let (directory, chats, outbox) = dependencies;
    if !channel.settings.enabled {
        return Err(Error::ChannelDisabled);
    }
    let settings = &directory.cached_settings(&channel.account_id).await?;
    settings.require_not_suspended()?;
    let body = request.json_with_limit(MAX_BODY_BYTES)?;
    let received = visitor_message::parse(&body, channel.is_lenient())?;
    let VisitorMessage { ref external_id, has_numeric_id, ref profile, ref invite, message, edits, caller_message_id } =
        received;
    let key =
        request.idempotency_key(|| format!("{}#{}", channel.channel_id, sha256::hex_digest(external_id)), &body)?;
    let key = key.as_ref();
    match message {
        ParsedMessage::Content(ref content) => {
            if let Some(message_id) = &edits {
                let max_messages = settings.limits.visitor_messages;
                let edit = VisitorEdit { channel, external_id, message_id, content, max_messages, key, now };
                return edit_message(chats, &edit, caller_message_id).await;
            }
            let department = directory.default_department(channel).await?;
            let bot_id = directory.first_bot(channel, department.as_ref()).await?;
            let from = FromVisitor {
                channel,
                department: department.as_ref(),
                bot_id: bot_id.as_deref(),
                external_id,
                network: None,
                settings,
                key,
                now,
            };
            let (invite, source) = (invite.as_deref(), ProfileSource::Integrator);
            let text = VisitorText { from, content, has_numeric_id, invite, profile, source, page: None };
            let Some(received) = receive_visitor_text(chats, &text).await? else { return Ok(ok_response()) };
            outbox.enqueue_message(&channel.account_id, &received.receipt).await;
            outbox.enqueue(&received.notifications).await;
            let accepted = AcceptedVisitorMessage::stored(&received.receipt);
            return Ok(Response::ok(accepted)
                .with_logged_message_id(&received.receipt.id)
                .with_logged_caller_message_id(caller_message_id));
        }
        ParsedMessage::Typing(TypingNotice::Start) => {
            set_visitor_typing(chats, &channel.channel_id, external_id, Some((now, None))).await?;
        }
        ParsedMessage::Typing(TypingNotice::End) => {
            set_visitor_typing(chats, &channel.channel_id, external_id, None).await?;
        }
    }
    Ok(ok_response())
}

/// Nothing is queued: the bot and the webhooks that already got the message keep the earlier text.
async fn edit_message(
    chats: &Chats,
    edit: &VisitorEdit<'_>,
    caller_message_id: Option<String>,
) -> Result<Response, Error> {
    let Some(receipt) = edit_visitor_text(chats, edit).await? else { return Ok(ok_response()) };
    Ok(Response::ok(AcceptedVisitorMessage::stored(&receipt))
        .with_logged_message_id(&receipt.id)
        .with_logged_caller_message_id(caller_message_id))
}

fn ok_response() -> Response {
    Response::ok(AcceptedVisitorMessage::default())
}
