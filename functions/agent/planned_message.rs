//! /agent/chats/{chat_id}/planned/{planned_id}: PUT plans a text, which a schedule sends later. POST sends it now, DELETE
//! cancels it; its author, the agent who has the chat, and admins may do this.

use std::process::ExitCode;

use shared::chats::agent::plan_message::{cancel_planned_message, plan_message, send_planned_message};
use shared::domain::accounts::agent::Role;
use shared::domain::chats::chat::Chat;
use shared::domain::chats::idempotency_key::IdempotencyKey;
use shared::domain::chats::planned_message::PlannedMessage;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::outbox::Outbox;
use shared::service::auth;
use shared::service::chat_access::ChatAccess;
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::agent::{self, CancelledMessage, MessageStored, NewPlannedMessage, checked_planned_id};
use shared::wire::fields::values::True;

fn main() -> ExitCode {
    http::run(handle)
}

type Dependencies = (Directory, Chats, Connections, Outbox);

async fn handle((directory, chats, connections, outbox): Dependencies, request: Request) -> Result<Response, Error> {
    request.require_method("DELETE, POST, PUT")?;
    let caller = auth::agent(&connections, &request).await?;
    let (chat_id, planned_id) =
        (request.path_number("chat_id")?, checked_planned_id(request.path_segment("planned_id"))?);
    let access = ChatAccess { directory: &directory, chats: &chats, session: &caller, now: clock::now() };
    let chat = access.chat(chat_id).await?;
    if request.method == "PUT" {
        connections.count_agent_message(&caller, chat_id, access.now)?;
        return plan(&access, &request, chat_id, planned_id).await;
    }
    let planned = chats.planned_message(&caller.account_id, chat_id, &planned_id).await?.ok_or(Error::NotFound)?;
    planned.require_changeable_by(caller.agent.agent_id, caller.role == Role::Admin, &chat)?;
    match request.method.as_str() {
        "POST" => send_now(&access, &outbox, &chat, &planned).await,
        "DELETE" => {
            cancel_planned_message(&chats, &planned, access.now).await?;
            Ok(Response::ok(CancelledMessage { planned_id, cancelled: True }))
        }
        _ => Err(request.unexpected_method()),
    }
}

/// Plans a message. The id, which the client has chosen, is the key of a repeated request. For a day, one that comes
/// after the message was sent or cancelled changes nothing.
async fn plan(access: &ChatAccess<'_>, request: &Request, chat_id: u64, planned_id: String) -> Result<Response, Error> {
    let ChatAccess { directory, chats, session: caller, now } = *access;
    let (account_id, agent) = (caller.account_id.clone(), caller.agent.clone());
    let scope = format!("{account_id}#{chat_id}#{}#planned", agent.agent_id);
    let key = IdempotencyKey::new(scope, planned_id.as_bytes(), request.json()?);
    let is_repeated = chats.earlier_receipt(Some(&key)).await?.is_some();
    let (text, send_at) = request.body_as::<NewPlannedMessage>()?.checked((!is_repeated).then_some(now))?;
    let planned = PlannedMessage { account_id, chat_id, planned_id, agent, text, send_at, claimed_until: None };
    if !is_repeated {
        plan_message(chats, &planned, &key, now).await?;
    }
    let safe_urls = &directory.cached_settings(&planned.account_id).await?.safe_urls;
    Ok(Response::ok(agent::PlannedMessage::new(planned, safe_urls)))
}

async fn send_now(
    access: &ChatAccess<'_>,
    outbox: &Outbox,
    chat: &Chat,
    planned: &PlannedMessage,
) -> Result<Response, Error> {
    let ChatAccess { directory, chats, now, .. } = *access;
    if chat.state.is_closed() {
        return Err(Error::Conflict("the chat is closed"));
    }
    if directory.agent(&planned.account_id, planned.agent.agent_id).await?.is_none() {
        return Err(Error::Conflict("the author of the message was deleted"));
    }
    let webhooks = &directory.cached_settings(&planned.account_id).await?.webhooks;
    if !chats.claim_planned_message(planned, now).await? {
        return Err(Error::Conflict("the message is being sent"));
    }
    let sent = send_planned_message(chats, planned, webhooks, now).await?;
    let sent = sent.ok_or(Error::Conflict("the chat was closed"))?;
    outbox.enqueue_message(&planned.account_id, &sent.receipt).await;
    outbox.enqueue(&sent.notifications).await;
    let stored = MessageStored::new(sent.receipt.seq, &sent.receipt.id);
    Ok(Response::created(stored).with_logged_message_id(&sent.receipt.id))
}
