//! Sends the event `chat_assigned` to webhooks, which asks them to link the visitor to a card in the account's CRM. The
//! event does not change the state of the chat. Also finds out whether any webhook subscribes to an event.

use crate::chats::notifications::NotificationContext;
use crate::domain::chat::Chat;
use crate::domain::chat_state::TransitionError;
use crate::domain::webhook::WebhookEventDetails;
use crate::domain::webhook_event::WebhookEvent;
use crate::error::Error;
use crate::runtime::clock;
use crate::runtime::outbox::Outbox;
use crate::store::chats::Chats;
use crate::store::directory::Directory;

pub struct WebhookNotifier<'a> {
    pub directory: &'a Directory,
    pub chats: &'a Chats,
    pub outbox: &'a Outbox,
}

impl WebhookNotifier<'_> {
    /// Whether a webhook of the account subscribes to `event`.
    pub async fn has_subscriber(&self, account_id: &str, event: WebhookEvent) -> Result<bool, Error> {
        let settings = self.directory.cached_settings(account_id).await?;
        Ok(settings.webhooks.iter().any(|webhook| webhook.subscribes_to(event)))
    }

    /// Stores and queues chat_assigned. `assign_to` names the CRM card to which the visitor is to be linked.
    ///
    /// # Errors
    /// Fails with `Conflict` if the chat has been closed or erased since it was read, or if no webhook subscribes to
    /// the event.
    pub async fn notify_assigned(&self, chat: &Chat, agent_id: u64, assign_to: &str) -> Result<(), Error> {
        let settings = self.directory.cached_settings(&chat.account_id).await?;
        let details = WebhookEventDetails { assign_to: Some(assign_to), ..WebhookEventDetails::default() };
        let context = NotificationContext { webhooks: &settings.webhooks, agent_id: Some(agent_id), now: clock::now() };
        let entries = self.chats.notify_webhooks(chat, WebhookEvent::ChatAssigned, details, &context).await?;
        if entries.is_empty() {
            return Err(TransitionError::Closed.into());
        }
        self.outbox.enqueue(&entries).await;
        Ok(())
    }
}
