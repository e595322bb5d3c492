//! The visitor's rating and typing, which are attributes of the chat's header.

use crate::domain::chats::chat::{Chat, Rating};
use crate::domain::chats::chat_state::ChatState;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::delivery::due_index::{closed_chat_values, set_closed_chat};
use crate::store::chats::expiry::erasure::ERASING;
use crate::store::chats::report_counters::count_rating_write;
use crate::store::chats::{Chats, entry_write, header_key};
use crate::store::table::{ItemUpdate, Write, WriteError, n, s};
use crate::store::to_attribute;

impl Chats {
    /// Stores and counts a rating of the chat together with the events that report it. Fails with `NotFound` if the
    /// chat is being erased.
    pub(crate) async fn write_rating(
        &self,
        chat: &Chat,
        rating: Option<Rating>,
        events: &[TimelineEntry],
        now: Timestamp,
    ) -> Result<(), WriteError> {
        let mut writes = vec![
            Write::Update(rating_update(chat, rating, events.len(), now)?),
            count_rating_write(chat, chat.rating, rating),
        ];
        writes.extend(events.iter().map(entry_write).collect::<Result<Vec<_>, _>>()?);
        match self.table.transact(writes).await {
            Err(WriteError::ConditionFailed { item: Some(item), .. }) if item.contains_key(ERASING) => {
                Err(Error::NotFound.into())
            }
            written => written,
        }
    }

    /// Stores the time at which the visitor started typing and the text typed so far, or removes both if `since` is
    /// `None`. Does nothing if the chat is closed.
    pub(crate) async fn set_typing(
        &self,
        account_id: &str,
        chat_id: u64,
        since: Option<(Timestamp, Option<&str>)>,
    ) -> Result<(), Error> {
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
        let key = header_key(account_id, chat_id);
        let condition = "attribute_exists(#pk) AND #state <> :closed";
        match self.table.update(ItemUpdate { key, update, condition, values }).await {
            Err(WriteError::Error(error)) => Err(error),
            Ok(_) | Err(WriteError::ConditionFailed { .. } | WriteError::Contended) => Ok(()),
        }
    }
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
