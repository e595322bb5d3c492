//! Notifications to bots and webhooks. A notification is a timeline entry, and is delivered like a message. If it
//! reports a change, it is stored in the same transaction as the change.

use crate::chats::new_entry::new_entry;
use crate::domain::calls::phone_call::{Call, CallStatus};
use crate::domain::chats::chat::{Chat, Sender};
use crate::domain::chats::chat_state::ChatState;
use crate::domain::chats::message_content::Content;
use crate::domain::chats::ownership_events::ownership_events;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::deliveries::delivery::{Delivery, Target};
use crate::domain::deliveries::webhook::{Webhook, WebhookDispatch, WebhookEventDetails};
use crate::domain::deliveries::webhook_event::WebhookEvent;
use crate::domain::timestamp::Timestamp;
use crate::domain::visitors::visitor::Visitor;
use crate::error::Error;

/// What all notifications about one change have in common.
#[derive(Clone, Copy)]
pub struct NotificationContext<'a> {
    /// All of the account's webhooks.
    pub webhooks: &'a [Webhook],
    /// The agent whom the notifications name; see [`WebhookDispatch::agent_id`]. `None` if there is no such agent.
    pub agent_id: Option<u64>,
    pub now: Timestamp,
}

/// The content of a notification entry. The dispatch is set if the notification is for a webhook, and is `None` if it
/// is for the bot.
pub(crate) type NotificationContent = (Content, Option<WebhookDispatch>);

impl NotificationContext<'_> {
    pub(crate) fn webhook_notifications(
        &self,
        event: WebhookEvent,
        details: WebhookEventDetails<'_>,
    ) -> Vec<NotificationContent> {
        let subscribed = self.webhooks.iter().filter(|webhook| webhook.subscribes_to(event));
        let dispatch = |webhook: &Webhook| WebhookDispatch {
            event,
            webhook_id: webhook.webhook_id.clone(),
            agent_id: self.agent_id,
            assign_to: details.assign_to.map(str::to_owned),
            call: details.call.cloned(),
            reports_rating: details.reports_rating,
            message_seq: details.message_seq,
            status: details.status.cloned(),
        };
        subscribed.map(|webhook| (Content::Webhook(event), Some(dispatch(webhook)))).collect()
    }

    /// Returns the notifications of a change of the chat's owner. They name the agent who has the chat afterwards.
    pub(crate) fn ownership_notifications(&self, before: Option<&Chat>, after: &Chat) -> Vec<NotificationContent> {
        let context = Self { agent_id: after.state.agent().map(|agent| agent.agent_id), ..*self };
        let notifications_of = |event| context.webhook_notifications(event, WebhookEventDetails::default());
        ownership_events(before, after).into_iter().flat_map(notifications_of).collect()
    }

    /// Returns a call_event notification of each status in `reached` for each subscribed webhook.
    pub(crate) fn call_notifications<'c>(
        &self,
        call: &'c Call,
        reached: impl IntoIterator<Item = &'c CallStatus>,
    ) -> Vec<NotificationContent> {
        let notifications_of = |status: &CallStatus| {
            let event = call.event(status.clone());
            let details = WebhookEventDetails { call: Some(&event), ..WebhookEventDetails::default() };
            self.webhook_notifications(WebhookEvent::CallEvent, details)
        };
        reached.into_iter().flat_map(notifications_of).collect()
    }

    /// Returns the notifications of an event about the message with this number.
    pub(crate) fn message_notifications(&self, event: WebhookEvent, message_seq: u64) -> Vec<NotificationContent> {
        let details = WebhookEventDetails { message_seq: Some(message_seq), ..WebhookEventDetails::default() };
        self.webhook_notifications(event, details)
    }

    /// Returns how many webhooks get an event.
    pub(crate) fn subscriber_count(&self, event: WebhookEvent) -> usize {
        self.webhooks.iter().filter(|webhook| webhook.subscribes_to(event)).count()
    }

    /// Returns the chat_updated events that report changed visitor data. They are sent only while an agent owns the
    /// chat, because the event must name an agent.
    pub(crate) fn chat_updated_notifications(&self, chat: &Chat, visitor: &Visitor) -> Vec<NotificationContent> {
        match chat.state {
            ChatState::Active(_) if visitor.changes.must_notify_webhooks => {
                self.webhook_notifications(WebhookEvent::ChatUpdated, WebhookEventDetails::default())
            }
            ChatState::Active(_)
            | ChatState::Bot
            | ChatState::Waiting
            | ChatState::Offered(_)
            | ChatState::Closed(_) => Vec::new(),
        }
    }

    /// Returns the delivery of a notification for a webhook.
    fn delivery_to(&self, dispatch: &WebhookDispatch) -> Delivery {
        let Some(webhook) = self.webhooks.iter().find(|webhook| webhook.webhook_id == dispatch.webhook_id) else {
            return Delivery::new(Target::Webhook, self.now);
        };
        Delivery::new(webhook.target.delivery_target(), self.now.plus(webhook.delay_of(dispatch.event)))
    }

    /// Creates entries with the chat's next entry numbers, and increases the chat's `seq` accordingly.
    pub(crate) fn create_entries(
        &self,
        chat: &mut Chat,
        contents: Vec<NotificationContent>,
    ) -> Result<Vec<TimelineEntry>, Error> {
        let mut entries = Vec::with_capacity(contents.len());
        for (content, webhook_dispatch) in contents {
            chat.seq += 1;
            let to_bot = || Delivery::new(Target::Bot, self.now);
            let delivery = Some(webhook_dispatch.as_ref().map_or_else(to_bot, |dispatch| self.delivery_to(dispatch)));
            let entry = new_entry(chat, Sender::System, content, self.now)?;
            entries.push(TimelineEntry { webhook_dispatch, delivery, ..entry });
        }
        Ok(entries)
    }
}
