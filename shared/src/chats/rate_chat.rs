//! Stores whether the visitor is typing, and the visitor's rating, as attributes of the chat's header.

use crate::chats::erase_visitor::ERASING;
use crate::chats::notifications::NotificationContext;
use crate::domain::chat::{Chat, Rating};
use crate::domain::chat_state::ChatState;
use crate::domain::timeline_entry::TimelineEntry;
use crate::domain::timestamp::Timestamp;
use crate::domain::webhook::{Webhook, WebhookEventDetails};
use crate::domain::webhook_event::WebhookEvent;
use crate::error::Error;
use crate::store::chats::due_index::{closed_chat_values, set_closed_chat};
use crate::store::chats::report_counters::count_rating_write;
use crate::store::chats::{Chats, entry_write, header_key};
use crate::store::table::{ItemUpdate, Write, WriteError, n, s};
use crate::store::to_attribute;
use crate::store::write_races::WriteRaces;

impl Chats {
    /// Stores and counts the visitor's rating of an open or closed chat; `None` removes the rating. Chat lists do not
    /// show ratings, so an open chat does not count as changed. If chat_finished has already been sent, the rating is
    /// reported with chat_updated. Returns these events, which the caller must queue.
    pub async fn store_rating(
        &self,
        mut chat: Chat,
        rating: Option<Rating>,
        webhooks: &[Webhook],
        now: Timestamp,
    ) -> Result<Vec<TimelineEntry>, Error> {
        let mut races = WriteRaces::new("rating");
        while chat.rating != rating {
            let notifications = rating_notifications(&chat, webhooks, now)?;
            let mut writes = vec![
                Write::Update(rating_update(&chat, rating, notifications.len(), now)?),
                count_rating_write(&chat, chat.rating, rating),
            ];
            writes.extend(notifications.iter().map(entry_write).collect::<Result<Vec<_>, _>>()?);
            let written = match self.table.transact(writes).await {
                Err(WriteError::ConditionFailed { item: Some(item), .. }) if item.contains_key(ERASING) => {
                    return Err(Error::NotFound);
                }
                written => written,
            };
            if let Some(result) = races.final_result(written) {
                return result.map(|()| notifications);
            }
            chat = self.chat(&chat.account_id, chat.chat_id).await?.ok_or(Error::NotFound)?;
        }
        Ok(Vec::new())
    }

    /// Stores the time at which the visitor started typing and the text typed so far, or removes both if `since` is
    /// `None`. Does nothing if the visitor is unknown, is blacklisted or has no open chat.
    pub async fn set_visitor_typing(
        &self,
        channel_id: &str,
        external_id: &str,
        since: Option<(Timestamp, Option<&str>)>,
    ) -> Result<(), Error> {
        let visitor = self.visitor(channel_id, external_id).await?;
        let visitor = visitor.filter(|visitor| !visitor.blacklisted);
        let Some(visitor) = visitor else { return Ok(()) };
        let Some(chat_id) = visitor.open_chat else { return Ok(()) };
        let mut values = vec![(":closed", s(ChatState::Closed(None).name()))];
        let update = match since {
            Some((since, None)) => {
                values.push((":since", n(since.0)));
                "SET #typing_started_at = :since REMOVE #typing_text"
            }
            Some((since, Some(text))) => {
                values.extend([(":since", n(since.0)), (":text", s(text))]);
                "SET #typing_started_at = :since, #typing_text = :text"
            }
            None => "REMOVE #typing_started_at, #typing_text",
        };
        let key = header_key(&visitor.account_id, chat_id);
        let condition = "attribute_exists(#pk) AND #state <> :closed";
        match self.table.update(ItemUpdate { key, update, condition, values }).await {
            Err(WriteError::Error(error)) => Err(error),
            Ok(_) | Err(WriteError::ConditionFailed { .. } | WriteError::Contended) => Ok(()),
        }
    }
}

/// Returns the chat_updated events that report a rating after chat_finished. There are none while the chat is open,
/// because chat_finished will contain the rating, and none if no agent took part, because then no event has reported
/// the chat.
fn rating_notifications(chat: &Chat, webhooks: &[Webhook], now: Timestamp) -> Result<Vec<TimelineEntry>, Error> {
    let owner = chat.state.agent().map(|agent| agent.agent_id);
    let agent_id = owner.or_else(|| chat.participants.last().copied());
    if !chat.state.is_closed() || agent_id.is_none() {
        return Ok(Vec::new());
    }
    let context = NotificationContext { webhooks, agent_id, now };
    let details = WebhookEventDetails { reports_rating: true, ..WebhookEventDetails::default() };
    let contents = context.webhook_notifications(WebhookEvent::ChatUpdated, details);
    context.create_entries(&mut chat.clone(), contents)
}

/// A condition that an unchanged rating fulfils. A rating that was removed is stored as null.
macro_rules! is_same_rating {
    () => {
        " AND (attribute_not_exists(#rating) OR #rating = :before)"
    };
}

/// Returns the header update that stores a rating and assigns the entry numbers of the events. Its condition fails if
/// the rating, or whether the chat is closed, has changed since `chat` was read, and, if there are events, if another
/// entry has been added to the chat or the chat is being erased.
fn rating_update(chat: &Chat, rating: Option<Rating>, event_count: usize, now: Timestamp) -> Result<ItemUpdate, Error> {
    let attribute = |rating: Option<Rating>| to_attribute(&rating.map(Rating::name));
    let mut values = vec![
        (":before", attribute(chat.rating)?),
        (":after", attribute(rating)?),
        (":closed", s(ChatState::Closed(None).name())),
    ];
    let (update, condition) = if event_count > 0 {
        values.extend([(":count", n(event_count)), (":old_seq", n(chat.seq)), (":now", n(now.0))]);
        values.extend(closed_chat_values(&chat.account_id, now));
        (
            concat!("SET #rating = :after, #seq = #seq + :count, #other_change_at = :now, ", set_closed_chat!()),
            concat!("#state = :closed AND #seq = :old_seq AND attribute_not_exists(#erasing)", is_same_rating!()),
        )
    } else if chat.state.is_closed() {
        ("SET #rating = :after", concat!("#state = :closed", is_same_rating!()))
    } else {
        ("SET #rating = :after", concat!("attribute_exists(#pk) AND #state <> :closed", is_same_rating!()))
    };
    Ok(ItemUpdate { key: header_key(&chat.account_id, chat.chat_id), update, condition, values })
}
