//! Telling an account's webhooks of something that changes no owner.

use crate::clock;
use crate::domain::chat::Chat;
use crate::domain::ownership::State;
use crate::domain::webhook::{Details, WebhookEvent};
use crate::error::Error;
use crate::queue::WebhookQueue;
use crate::store::chats::Chats;
use crate::store::directory::Directory;
use crate::store::transitions::Told;

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
    /// chat_updated: what is known of the visitor changed. Told from chat_accepted on, because before it no agent has
    /// the chat and nobody was told of it.
    pub async fn updated(&self, chat: Option<&Chat>) -> Result<(), Error> {
        let Some(chat) = chat else { return Ok(()) };
        let State::Active(agent) = &chat.state else { return Ok(()) };
        self.tell(chat, WebhookEvent::ChatUpdated, agent.agent_id, Details::default()).await
    }

    /// Whether anybody would be told.
    pub async fn has_listener(&self, account_id: &str, event: WebhookEvent) -> Result<bool, Error> {
        let settings = self.directory.cached_settings(account_id).await?;
        Ok(settings.webhooks.iter().any(|webhook| webhook.wants(event)))
    }

    /// chat_assigned: the agent binds the visitor to a CRM card.
    pub async fn assigned(&self, chat: &Chat, agent_id: u64, assign_to: &str) -> Result<(), Error> {
        let details = Details { assign_to: Some(assign_to), ..Details::default() };
        self.tell(chat, WebhookEvent::ChatAssigned, agent_id, details).await
    }

    async fn tell(&self, chat: &Chat, event: WebhookEvent, agent_id: u64, details: Details<'_>) -> Result<(), Error> {
        let settings = self.directory.cached_settings(&chat.account_id).await?;
        let told = Told { webhooks: &settings.webhooks, agent_id: Some(agent_id), now: clock::now() };
        for entry in self.chats.tell_webhooks(chat, event, details, &told).await? {
            self.queue.0.send_entry(Some(&entry)).await?;
        }
        Ok(())
    }
}
