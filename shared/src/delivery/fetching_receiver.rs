//! Receivers without an address. Their programs fetch what would otherwise be posted to them.

use crate::delivery::integrator_receiver;
use crate::delivery::signed_post::SignedPost;
use crate::delivery::webhook_request::{self, WebhookRequests};
use crate::domain::channels::channel::Channel;
use crate::domain::chats::chat::Chat;
use crate::domain::chats::chat_side_panel::CrmCardAssignment;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::deliveries::delivery::{Delivery, Target};
use crate::domain::deliveries::outage::OutageKey;
use crate::domain::deliveries::webhook::{Webhook, WebhookDispatch};
use crate::domain::deliveries::webhook_event::WebhookEvent;
use crate::error::Error;
use crate::store::chats::Chats;
use crate::store::directory::Directory;

pub enum FetchingReceiver<'a> {
    /// The webhooks are those of the account, which may be notified of what becomes of a message.
    Integrator {
        channel: &'a Channel,
        webhooks: &'a [Webhook],
    },
    Webhook {
        account_id: &'a str,
        webhook: &'a Webhook,
        directory: &'a Directory,
    },
}

impl FetchingReceiver<'_> {
    pub(crate) fn key(&self) -> OutageKey {
        match self {
            Self::Integrator { channel, webhooks: _ } => integrator_receiver::outage_key(channel),
            Self::Webhook { account_id, webhook, directory: _ } => webhook_request::outage_key(account_id, webhook),
        }
    }

    pub(crate) fn target(&self) -> Target {
        match self {
            Self::Integrator { .. } => Target::Channel,
            Self::Webhook { .. } => Target::Webhook,
        }
    }

    /// Returns the webhooks that are notified of what becomes of a delivery.
    pub(crate) fn notified_webhooks(&self) -> &[Webhook] {
        match self {
            Self::Integrator { channel: _, webhooks } => webhooks,
            Self::Webhook { .. } => &[],
        }
    }

    /// Whether an entry waits for this receiver.
    pub(crate) fn awaits(&self, entry: &TimelineEntry, chat: &Chat) -> bool {
        let is_waiting = |delivery: &Delivery| delivery.target == self.target() && delivery.fetch_until.is_some();
        let is_own = match self {
            Self::Integrator { channel, webhooks: _ } => chat.channel_id == channel.channel_id,
            Self::Webhook { account_id, webhook, directory: _ } => {
                let is_own = |dispatch: &WebhookDispatch| dispatch.webhook_id == webhook.webhook_id;
                chat.account_id == *account_id && entry.webhook_dispatch.as_ref().is_some_and(is_own)
            }
        };
        is_own && entry.delivery.as_ref().is_some_and(is_waiting)
    }

    /// Returns the request that would be posted. The inner error is the reason why the entry cannot be sent.
    pub(crate) async fn compose(
        &self,
        entry: &TimelineEntry,
        chat: &Chat,
        chats: &Chats,
    ) -> Result<Result<SignedPost, &'static str>, Error> {
        match self {
            Self::Integrator { channel, webhooks: _ } => {
                Ok(integrator_receiver::compose(Some(channel), entry, chat)?.map(|(post, _)| post))
            }
            Self::Webhook { account_id: _, webhook, directory } => {
                WebhookRequests { directory, chats }.compose_for(webhook, entry, chat).await
            }
        }
    }
}

/// If the entry is chat_assigned, shows the agent who requested the assignment what became of it. A program cannot
/// respond to an event, so the assignment is done as soon as the event is acknowledged.
pub(crate) async fn record_assignment(
    chats: &Chats,
    chat: &Chat,
    entry: &TimelineEntry,
    assignment: CrmCardAssignment,
) -> Result<(), Error> {
    let is_assignment = |dispatch: &WebhookDispatch| dispatch.event == WebhookEvent::ChatAssigned;
    if entry.webhook_dispatch.as_ref().is_some_and(is_assignment) {
        chats.record_assignment(chat, &assignment).await?;
    }
    Ok(())
}
