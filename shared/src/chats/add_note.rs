//! Stores agents' private notes. Notes can also be added to a closed chat. A chat that is being erased is closed too.
//! Therefore, the transaction that writes a note fails as soon as the erasure has started, so that no note outlives its
//! chat.

use crate::chats::erase_visitor::ERASING;
use crate::domain::agent::AgentSnapshot;
use crate::domain::chat::{Chat, Sender};
use crate::domain::idempotency_key::{IdempotencyKey, MessageReceipt};
use crate::domain::message_content::Content;
use crate::domain::timeline_entry::TimelineEntry;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::due_index::{closed_chat_values, set_closed_chat};
use crate::store::chats::{Chats, header_key};
use crate::store::table::{ItemUpdate, Write, WriteError, n};
use crate::store::write_races::WriteRaces;

pub struct NewNote<'a> {
    pub agent: &'a AgentSnapshot,
    pub text: &'a str,
    pub key: Option<&'a IdempotencyKey>,
    pub now: Timestamp,
}

impl Chats {
    /// Stores a note in the chat. The note changes neither the preview of the last message nor the time of the last
    /// activity. Fails with `NotFound` if the chat is being erased or no longer exists.
    pub async fn store_note(&self, chat: Chat, note: &NewNote<'_>) -> Result<MessageReceipt, Error> {
        let mut chat = chat;
        let mut races = WriteRaces::new("note");
        loop {
            if let Some(receipt) = self.earlier_receipt(note.key).await? {
                return Ok(receipt);
            }
            let entry = note.entry(&chat)?;
            let written = self.write_note(&chat, &entry, note.key).await;
            if let Some(result) = races.final_result(written) {
                return result.map(|()| MessageReceipt::of(&entry));
            }
            chat = self.chat(&chat.account_id, chat.chat_id).await?.ok_or(Error::NotFound)?;
        }
    }

    /// Writes the note, unless another entry has been added to the chat since `chat` was read.
    async fn write_note(
        &self,
        chat: &Chat,
        entry: &TimelineEntry,
        key: Option<&IdempotencyKey>,
    ) -> Result<(), WriteError> {
        let mut values = vec![(":seq", n(entry.seq)), (":old_seq", n(chat.seq)), (":now", n(entry.at.0))];
        let update = if chat.state.is_closed() {
            values.extend(closed_chat_values(&chat.account_id, entry.at));
            concat!("SET #seq = :seq, #other_change_at = :now, ", set_closed_chat!())
        } else {
            "SET #seq = :seq, #other_change_at = :now"
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

impl NewNote<'_> {
    fn entry(&self, chat: &Chat) -> Result<TimelineEntry, Error> {
        let seq = chat.seq + 1;
        Ok(TimelineEntry {
            account_id: chat.account_id.clone(),
            chat_id: chat.chat_id,
            seq,
            id: crate::runtime::random_ids_and_secrets::new_message_id(chat.chat_id, seq, self.now)?,
            from: Sender::Agent(self.agent.clone()),
            content: Content::Note(self.text.to_owned()),
            at: self.now,
            caused_by: None,
            webhook_dispatch: None,
            retain_until: chat.retain_until(self.now),
            delivery: None,
        })
    }
}
