//! POST /widget/{widget_id}/offline-message: receives the offline form, which the widget shows while no agent is
//! online and no bot answers, and the page's own form (sendOfflineMessage). The message is stored in the visitor's open
//! chat, or opens a chat, which starts with the widget's bot or, if it has none, waits for the agents. A bot that has
//! the chat gets the message. Webhooks are notified with offline_message. A repeated request with the same `message_id`
//! stores nothing.

use std::process::ExitCode;

use shared::chats::visitor::receive_offline_form::{OfflineForm, receive_offline_form};
use shared::chats::visitor::visitor_entry::FromVisitor;
use shared::domain::chats::idempotency_key::IdempotencyKey;
use shared::error::Error;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::outbox::Outbox;
use shared::service::widget::WidgetRequest;
use shared::store::chats::Chats;
use shared::store::chats::visitors::widget_visitors::visitor_id_of_token;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::fields::described::{ResultOk, Success};
use shared::wire::widget::{OfflineMessage, OfflineMessageRequest};

fn main() -> ExitCode {
    http::run_cross_origin(handle)
}

type Dependencies = (Directory, Chats, Connections, Outbox);

async fn handle((directory, chats, connections, outbox): Dependencies, request: Request) -> Result<Response, Error> {
    let accepted = WidgetRequest::accept(&directory, &connections, &request).await?;
    let WidgetRequest { channel, now, .. } = &accepted;
    let requested: OfflineMessageRequest = accepted.body_as()?;
    let OfflineMessage { token, message_id, contacts, answers, text } = requested.checked()?;
    let contacts_form = &accepted.settings()?.contacts_form;
    let answers = answers.map(|answers| contacts_form.lines_of_answers(&answers));
    let external_id = visitor_id_of_token(token.as_str());
    let scope = format!("{}#offline#{external_id}", channel.channel_id);
    let settings = directory.cached_settings(&channel.account_id).await?;
    let department = directory.default_department(channel).await?;
    let bot_id = directory.first_bot(channel, department.as_ref()).await?;
    let from = FromVisitor {
        channel,
        department: department.as_ref(),
        bot_id: bot_id.as_deref(),
        external_id: &external_id,
        network: Some(&accepted.network),
        settings: &settings,
        key: Some(&IdempotencyKey::new(scope, message_id.as_str().as_bytes(), &text)),
        now: *now,
    };
    let form = OfflineForm { from, text: &text, contacts: &contacts, answers: answers.as_deref() };
    let ok = Response::ok(Success { result: ResultOk::Ok });
    let Some(stored) = receive_offline_form(&chats, &form).await? else { return Ok(ok) };
    outbox.enqueue_message(&channel.account_id, &stored.receipt).await;
    outbox.enqueue(&stored.notifications).await;
    Ok(ok.with_logged_message_id(&stored.receipt.id))
}
