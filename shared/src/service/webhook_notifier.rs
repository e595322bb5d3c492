//! Telling an account's webhooks of something that changes no owner.

use crate::domain::chat::Chat;
use crate::domain::chat_state::Refusal;
use crate::domain::webhook::{Details, WebhookEvent};
use crate::error::Error;
use crate::runtime::clock;
use crate::runtime::queue::WebhookQueue;
use crate::store::chats::Chats;
use crate::store::chats::transitions::EventContext;
use crate::store::directory::Directory;

/// What it takes to tell.
pub struct Announcer<'a> {
    /// Where the webhooks are.
    pub directory: &'a Directory,
    /// Where the chats are.
    pub chats: &'a Chats,
    /// Where the events wait.
    pub queue: &'a WebhookQueue,
}

impl Announcer<'_> {
    /// Whether anybody would be told.
    pub async fn has_listener(&self, account_id: &str, event: WebhookEvent) -> Result<bool, Error> {
        let settings = self.directory.cached_settings(account_id).await?;
        Ok(settings.webhooks.iter().any(|webhook| webhook.wants(event)))
    }

    /// chat_assigned: the agent binds the visitor to a CRM card. Refused when the chat has ended meanwhile.
    pub async fn assigned(&self, chat: &Chat, agent_id: u64, assign_to: &str) -> Result<(), Error> {
        let settings = self.directory.cached_settings(&chat.account_id).await?;
        let details = Details { assign_to: Some(assign_to), ..Details::default() };
        let context = EventContext { webhooks: &settings.webhooks, agent_id: Some(agent_id), now: clock::now() };
        let entries = self.chats.notify_webhooks(chat, WebhookEvent::ChatAssigned, details, &context).await?;
        if entries.is_empty() {
            return Err(Refusal::Closed.into());
        }
        self.queue.enqueue_events(&entries).await;
        Ok(())
    }
}
