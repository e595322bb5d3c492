//! Notifications to bots and webhooks. A notification is a timeline entry, and is delivered like a message. If it
//! reports a change, it is stored in the same transaction as the change.

use crate::domain::chat::{Chat, Sender};
use crate::domain::chat_state::ChatState;
use crate::domain::delivery::{Delivery, Target};
use crate::domain::message_content::Content;
use crate::domain::timeline_entry::TimelineEntry;
use crate::domain::timestamp::Timestamp;
use crate::domain::visitor::Visitor;
use crate::domain::webhook::{Webhook, WebhookDispatch, WebhookEventDetails};
use crate::domain::webhook_event::WebhookEvent;
use crate::error::Error;
use crate::store::chats::due_index::{closed_chat_values, set_closed_chat};
use crate::store::chats::{Chats, chat_from_item, entry_write, header_key};
use crate::store::table::{ITEM_EXISTS, ItemUpdate, WriteError, WriteResult, key_taken, n, s};

impl Chats {
    /// Stores a notification for each webhook that subscribes to `event`. Transitions do not use this function, because
    /// they store their own notifications. Returns the stored entries, which the caller must queue. The list is empty
    /// if no webhook subscribes, or if the chat is closed or no longer exists.
    pub async fn notify_webhooks(
        &self,
        chat: &Chat,
        event: WebhookEvent,
        details: WebhookEventDetails<'_>,
        context: &NotificationContext<'_>,
    ) -> Result<Vec<TimelineEntry>, Error> {
        let contents = context.webhook_notifications(event, details);
        if contents.is_empty() {
            return Ok(Vec::new());
        }
        let update = ItemUpdate {
            key: header_key(&chat.account_id, chat.chat_id),
            update: "SET #seq = #seq + :count, #other_change_at = :now",
            // Receivers expect no more events about a chat after chat_finished, so a closed chat sends none.
            condition: "attribute_exists(#pk) AND #state <> :closed",
            values: vec![
                (":count", n(contents.len())),
                (":now", n(context.now.0)),
                (":closed", s(ChatState::Closed(None).name())),
            ],
        };
        let Ok(mut header) = self.reserve_entries(update, contents.len()).await.condition()? else {
            return Ok(Vec::new());
        };
        let entries = context.create_entries(&mut header, contents)?;
        if let [first, others @ ..] = entries.as_slice() {
            let others = others.iter().map(entry_write).collect::<Result<_, _>>()?;
            self.store_entry_with(first, None, others).await.on_condition_failed(key_taken())?;
        }
        Ok(entries)
    }

    /// Assigns the entry numbers of call events and returns the header, whose `seq` is the last number before them.
    /// Fails with `NotFound` if the chat has been erased. A call can outlast its chat, so a closed chat gets call events
    /// too. An event also resets the chat's idle time.
    pub(crate) async fn reserve_call_events(
        &self,
        chat: &Chat,
        count: usize,
        now: Timestamp,
    ) -> Result<Chat, WriteError> {
        let mut values = vec![(":count", n(count)), (":now", n(now.0))];
        let update = if chat.state.is_closed() {
            values.extend(closed_chat_values(&chat.account_id, now));
            concat!("SET #seq = #seq + :count, #updated_at = :now, ", set_closed_chat!())
        } else {
            "SET #seq = #seq + :count, #updated_at = :now"
        };
        let key = header_key(&chat.account_id, chat.chat_id);
        match self.reserve_entries(ItemUpdate { key, update, condition: ITEM_EXISTS, values }, count).await {
            Err(WriteError::ConditionFailed { .. }) => Err(Error::NotFound.into()),
            reserved => reserved,
        }
    }

    /// Updates a header to assign entry numbers. Returns the header, whose `seq` is the last number before them.
    async fn reserve_entries(&self, update: ItemUpdate, count: usize) -> Result<Chat, WriteError> {
        let mut header = chat_from_item(self.table.update(update).await?)?;
        header.seq = header.seq.saturating_sub(count as u64);
        Ok(header)
    }
}

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
        };
        subscribed.map(|webhook| (Content::Webhook(event), Some(dispatch(webhook)))).collect()
    }

    pub(crate) fn chat_updated_subscriber_count(&self) -> usize {
        self.webhooks.iter().filter(|webhook| webhook.subscribes_to(WebhookEvent::ChatUpdated)).count()
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

    /// Creates entries with the chat's next entry numbers, and increases the chat's `seq` accordingly.
    pub(crate) fn create_entries(
        &self,
        chat: &mut Chat,
        contents: Vec<NotificationContent>,
    ) -> Result<Vec<TimelineEntry>, Error> {
        let mut entries = Vec::with_capacity(contents.len());
        for (content, webhook_dispatch) in contents {
            chat.seq += 1;
            let target = if webhook_dispatch.is_some() { Target::Webhook } else { Target::Bot };
            entries.push(TimelineEntry {
                account_id: chat.account_id.clone(),
                chat_id: chat.chat_id,
                seq: chat.seq,
                id: crate::runtime::random_ids_and_secrets::new_message_id(chat.chat_id, chat.seq, self.now)?,
                from: Sender::System,
                content,
                at: self.now,
                caused_by: None,
                webhook_dispatch,
                retain_until: chat.retain_until(self.now),
                delivery: Some(Delivery::new(target, self.now)),
            });
        }
        Ok(entries)
    }
}
