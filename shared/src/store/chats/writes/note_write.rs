//! The write that stores an agent's private note.

use crate::domain::chats::chat::Chat;
use crate::domain::chats::idempotency_key::IdempotencyKey;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::error::Error;
use crate::store::chats::delivery::due_index::{closed_chat_values, set_closed_chat};
use crate::store::chats::expiry::erasure::ERASING;
use crate::store::chats::items::MentionItem;
use crate::store::chats::{Chats, header_key};
use crate::store::table::{ItemUpdate, Write, WriteError, n};
use crate::store::to_attribute;

impl Chats {
    /// Writes the note, unless another entry has been added to the chat since `chat` was read. Fails with `NotFound` if
    /// the chat is being erased.
    pub(crate) async fn write_note(
        &self,
        chat: &Chat,
        entry: &TimelineEntry,
        key: Option<&IdempotencyKey>,
    ) -> Result<(), WriteError> {
        let mut values = vec![(":seq", n(entry.seq)), (":old_seq", n(chat.seq)), (":now", n(entry.at.0))];
        let mentioned = entry.content.mentions();
        if chat.state.is_closed() {
            values.extend(closed_chat_values(&chat.account_id, entry.at));
        }
        if !mentioned.is_empty() {
            let mentions = chat.mentions_after(mentioned, entry.seq).into_iter().map(MentionItem::from);
            values.push((":mentions", to_attribute(&mentions.collect::<Vec<_>>())?));
        }
        let update = match (chat.state.is_closed(), mentioned.is_empty()) {
            (false, true) => "SET #seq = :seq, #other_change_at = :now",
            (false, false) => "SET #seq = :seq, #other_change_at = :now, #mentions = :mentions",
            (true, true) => concat!("SET #seq = :seq, #other_change_at = :now, ", set_closed_chat!()),
            (true, false) => {
                concat!("SET #seq = :seq, #other_change_at = :now, #mentions = :mentions, ", set_closed_chat!())
            }
        };
        let header = Write::Update(ItemUpdate {
            key: header_key(&chat.account_id, chat.chat_id),
            update,
            condition: "#seq = :old_seq AND attribute_not_exists(#erasing)",
            values,
        });
        match self.store_entry_with(entry, key, vec![header]).await {
            Err(WriteError::ConditionFailed { item: Some(item), .. }) if item.contains_key(ERASING) => {
                Err(Error::NotFound.into())
            }
            written => written,
        }
    }
}
