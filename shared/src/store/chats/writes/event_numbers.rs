//! Assigns the entry numbers of events about a chat.

use crate::domain::chats::chat::Chat;
use crate::domain::chats::chat_state::ChatState;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::delivery::due_index::{closed_chat_values, set_closed_chat};
use crate::store::chats::{Chats, chat_from_item, header_key};
use crate::store::table::{ITEM_EXISTS, ItemUpdate, WriteError, WriteResult, n, s};

impl Chats {
    /// Assigns entry numbers in an open chat and returns the header, whose `seq` is the last number before them.
    /// Returns `None` if the chat is closed, because receivers expect no more events about a chat after chat_finished,
    /// or if it no longer exists.
    pub(crate) async fn reserve_entries(
        &self,
        chat: &Chat,
        count: usize,
        now: Timestamp,
    ) -> Result<Option<Chat>, Error> {
        let update = ItemUpdate {
            key: header_key(&chat.account_id, chat.chat_id),
            update: "SET #seq = #seq + :count, #other_change_at = :now",
            condition: "attribute_exists(#pk) AND #state <> :closed",
            values: vec![(":count", n(count)), (":now", n(now.0)), (":closed", s(ChatState::Closed(None).name()))],
        };
        Ok(self.advance_by(update, count).await.condition()?.ok())
    }

    /// Assigns the entry numbers of events that a closed chat gets too, and returns the header, whose `seq` is the last
    /// number before them. Returns `None` if the chat no longer exists.
    pub(crate) async fn reserve_events(
        &self,
        (account_id, chat_id): (&str, u64),
        count: usize,
        now: Timestamp,
    ) -> Result<Option<Chat>, Error> {
        let update = ItemUpdate {
            key: header_key(account_id, chat_id),
            // The list of deliveries skips chats that have not changed since the time that it begins with.
            update: "SET #seq = #seq + :count, #other_change_at = :now",
            condition: ITEM_EXISTS,
            values: vec![(":count", n(count)), (":now", n(now.0))],
        };
        Ok(self.advance_by(update, count).await.condition()?.ok())
    }

    /// Assigns the entry numbers of call events and returns the header, whose `seq` is the last number before them.
    /// Fails with `NotFound` if the chat has been erased. A call can outlast its chat, so a closed chat gets call
    /// events too. An event also resets the chat's idle time.
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
        match self.advance_by(ItemUpdate { key, update, condition: ITEM_EXISTS, values }, count).await {
            Err(WriteError::ConditionFailed { .. }) => Err(Error::NotFound.into()),
            reserved => reserved,
        }
    }

    async fn advance_by(&self, update: ItemUpdate, count: usize) -> Result<Chat, WriteError> {
        let mut header = chat_from_item(self.table.update(update).await?)?;
        header.seq = header.seq.saturating_sub(count as u64);
        Ok(header)
    }
}
