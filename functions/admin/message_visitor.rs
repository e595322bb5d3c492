//! POST /admin/channels/{channel_id}/visitors/{external_id}/messages: says something to a visitor whom the integrator of
//! an API channel knows by this id, in the visitor's open chat or in a new one. A 201 response means that the message is
//! stored, together with its pending delivery.
//!
//! An agent without the admin role gets 403 after the session has been read.

use std::process::ExitCode;

use shared::chats::agent::message_visitor::{MessageToVisitor, message_visitor};
use shared::domain::channels::channel::ChannelKind;
use shared::domain::sha256;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::outbox::Outbox;
use shared::service::auth;
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::admin::visitor_message::{StoredVisitorMessage, checked_external_id};
use shared::wire::agent::parse_agent_message;

fn main() -> ExitCode {
    http::run(handle)
}

type Dependencies = (Directory, Chats, Connections, Outbox);

async fn handle((directory, chats, connections, outbox): Dependencies, request: Request) -> Result<Response, Error> {
    let caller = auth::admin(&connections, &request).await?;
    let (account_id, now) = (&caller.account_id, clock::now());
    let channel = directory.channel_of_account(account_id, &request.path_segment("channel_id")).await?;
    if channel.settings.kind() == ChannelKind::Widget {
        return Err(Error::Conflict("the visitors of a widget have no ids of an integrator"));
    }
    let external_id = checked_external_id(request.path_segment("external_id"))?;
    let body = request.json()?;
    let (content, _) = parse_agent_message(&body)?;
    let scope = || format!("to_visitor#{}#{}", channel.channel_id, sha256::hex_digest(&external_id));
    let key = request.idempotency_key(scope, &body)?;
    let settings = directory.cached_settings(account_id).await?;
    let department = directory.default_department(&channel).await?;
    let message = MessageToVisitor {
        channel: &channel,
        department: department.as_ref(),
        external_id: &external_id,
        agent: &caller.agent,
        content,
        settings: &settings,
        key: key.as_ref(),
        now,
    };
    let sent = message_visitor(&chats, &message).await?;
    outbox.enqueue(&sent.notifications).await;
    outbox.enqueue_message(account_id, &sent.receipt).await;
    Ok(Response::created(StoredVisitorMessage::new(&sent.receipt)).with_logged_message_id(&sent.receipt.id))
}
