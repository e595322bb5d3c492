//! POST /widget/{widget_id}/message: receives a message from a visitor of a widget. A 200 response means that the
//! message is stored, unless the visitor is blacklisted. If a bot has the chat, the message is also queued for the bot.
//! A repeated request with the same `message_id` stores nothing and returns the stored message.
//!
//! If a concurrent request changes the chat, the reads and writes are repeated. A rejected message is counted, usually
//! with one write, unless the reason is its site, its token, malformed JSON or the rate limit of the client network.
//! Each process makes at most 20 such writes per channel in ten seconds, and adds up the further counts in memory.

use std::process::ExitCode;

use shared::chats::visitor::receive_visitor_text::{VisitorText, receive_visitor_text};
use shared::chats::visitor::visitor_entry::FromVisitor;
use shared::domain::chats::idempotency_key::IdempotencyKey;
use shared::domain::files::upload::Uploader;
use shared::domain::visitors::visitor::{ProfileSource, VisitorProfile};
use shared::error::Error;
use shared::runtime::file_bucket::FileBucket;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::outbox::Outbox;
use shared::runtime::public_base_url::PublicBaseUrl;
use shared::service::file_links::FileLinks;
use shared::service::uploads::{FileReceiver, MessageFate};
use shared::service::widget::{self, WidgetRequest};
use shared::store::chats::Chats;
use shared::store::chats::visitors::widget_visitors::visitor_id_of_token;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::fields::values::Whole;
use shared::wire::widget::{BrowserPage, StoredWidgetMessage, WidgetMessageRequest};

fn main() -> ExitCode {
    http::run_cross_origin(handle)
}

type Dependencies = (Directory, Chats, Connections, Outbox, FileBucket, PublicBaseUrl);

async fn handle(dependencies: Dependencies, request: Request) -> Result<Response, Error> {
    let (directory, chats, connections, _, _, url) = &dependencies;
    let accepted = WidgetRequest::accept(directory, connections, &request).await?;
    let result = store(&dependencies, &accepted, url.of_request(&request)).await;
    if let Err(error) = &result {
        chats.count_refusal(&accepted.channel.channel_id, error, accepted.now).await;
    }
    result
}

async fn store(
    (directory, chats, _, outbox, bucket, _): &Dependencies,
    accepted: &WidgetRequest,
    base_url: String,
) -> Result<Response, Error> {
    let WidgetRequest { channel, network, now, .. } = accepted;
    let requested: WidgetMessageRequest = accepted.body_as()?;
    let mut content = requested.content()?;
    let WidgetMessageRequest { token, message_id, message, invite, department_id, page } = requested;
    let (department_id, page) = (department_id.map(|Whole(id)| id), page.and_then(BrowserPage::into_page));
    let external_id = visitor_id_of_token(token.as_str());
    let scope = format!("{}#{external_id}", channel.channel_id);
    let settings = directory.cached_settings(&channel.account_id).await?;
    let department = widget::department_of_new_chat(directory, channel, department_id).await?;
    let bot_id = directory.first_bot(channel, department.as_ref()).await?;
    let uploader = Uploader::visitor(&channel.account_id, &channel.channel_id, &external_id);
    let links = FileLinks { directory, base_url, now: *now };
    let files = FileReceiver { bucket, links, path: "message." }.take(&uploader, &mut content).await?;
    let from = FromVisitor {
        channel,
        department: department.as_ref(),
        bot_id: bot_id.as_deref(),
        external_id: &external_id,
        network: Some(network),
        settings: &settings,
        key: Some(&IdempotencyKey::new(scope, message_id.as_str().as_bytes(), &message.0)),
        now: *now,
    };
    let text = VisitorText {
        from,
        content: &content,
        has_numeric_id: false,
        invite: invite.0.as_deref(),
        profile: &VisitorProfile::default(),
        source: ProfileSource::Visitor,
        page: page.as_ref(),
    };
    let stored = receive_visitor_text(chats, &text).await;
    let fate = if matches!(stored, Ok(None)) { MessageFate::Rejected } else { MessageFate::of(&stored) };
    files.finish(bucket, fate).await;
    let Some(stored) = stored? else {
        return Ok(Response::ok(StoredWidgetMessage::blacklisted(&content, &message_id, *now)));
    };
    let receipt = stored.receipt;
    outbox.enqueue_message(&channel.account_id, &receipt).await;
    outbox.enqueue(&stored.notifications).await;
    let entry = match stored.entry {
        Some(entry) => entry,
        None => chats.entry(&channel.account_id, receipt.chat_id, receipt.seq).await?.ok_or(Error::NotFound)?,
    };
    Ok(Response::ok(StoredWidgetMessage::new(&entry, &message_id)).with_logged_message_id(&receipt.id))
}
