//! POST /agent/chats/{chat_id}/assign: asks the webhooks, with chat_assigned, to link the visitor to a CRM card. A
//! webhook has returned this card in its response to chat_accepted or chat_updated. The panel shows whether the
//! webhooks confirm the assignment.
//!
//! Without a CRM card or a subscribed webhook, the request is rejected with 409 before any write. If the chat is closed
//! concurrently, the request is rejected after the panel has been written.

use std::process::ExitCode;

use shared::chats::notifications::NotificationContext;
use shared::chats::notify_webhooks::notify_webhooks;
use shared::domain::chats::chat_side_panel::CrmCardAssignment;
use shared::domain::chats::chat_state::{ChatEvent, TransitionError};
use shared::domain::deliveries::webhook::{Webhook, WebhookEventDetails};
use shared::domain::deliveries::webhook_event::WebhookEvent;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::outbox::Outbox;
use shared::service::auth;
use shared::service::chat_access::ChatAccess;
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::agent::AssignedChat;
use shared::wire::fields::urls::WebUrl;
use shared::wire::fields::values::SequentialNumber;

fn main() -> ExitCode {
    http::run(handle)
}

type Dependencies = (Directory, Chats, Connections, Outbox);

async fn handle((directory, chats, connections, outbox): Dependencies, request: Request) -> Result<Response, Error> {
    let caller = auth::agent(&connections, &request).await?;
    let (account_id, chat_id) = (&caller.account_id, request.path_number("chat_id")?);
    let now = clock::now();
    let chat = ChatAccess { directory: &directory, chats: &chats, session: &caller, now }.chat(chat_id).await?;
    chat.state.after_event(ChatEvent::AgentWrites(&caller.agent))?;
    let panel = chats.panel(account_id, chat_id).await?;
    let settings = directory.cached_settings(account_id).await?;
    let card = settings.safe_urls.filter_panel(panel).crm_link.ok_or(Error::Conflict("the chat has no CRM card"))?;
    let is_subscribed = |webhook: &Webhook| webhook.subscribes_to(WebhookEvent::ChatAssigned);
    if !settings.webhooks.iter().any(is_subscribed) {
        return Err(Error::Conflict("no webhook subscribes to chat_assigned"));
    }
    chats.record_assignment(&chat, &CrmCardAssignment::Pending).await?;
    let details = WebhookEventDetails { assign_to: Some(&card), ..WebhookEventDetails::default() };
    let context = NotificationContext { webhooks: &settings.webhooks, agent_id: Some(caller.agent.agent_id), now };
    let entries = notify_webhooks(&chats, &chat, WebhookEvent::ChatAssigned, details, &context).await?;
    if entries.is_empty() {
        // The chat has been closed or erased since it was read.
        return Err(TransitionError::Closed.into());
    }
    outbox.enqueue(&entries).await;
    Ok(Response::ok(AssignedChat { chat_id: SequentialNumber(chat_id), assign_to: WebUrl(card) }))
}
