//! Adds an agent's private note. Notes can also be added to a closed chat. A chat that is being erased is closed too.
//! Therefore, the transaction that writes a note fails as soon as the erasure has started, so that no note outlives its
//! chat.

use crate::chats::new_entry::new_entry;
use crate::domain::accounts::agent::AgentSnapshot;
use crate::domain::chats::chat::{Chat, Sender};
use crate::domain::chats::idempotency_key::{IdempotencyKey, MessageReceipt};
use crate::domain::chats::message_content::Content;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::Chats;
use crate::store::write_races::WriteRaces;

pub struct NewNote<'a> {
    pub agent: &'a AgentSnapshot,
    pub text: &'a str,
    /// The agents whom the note mentions. They see the chat.
    pub mentions: &'a [u64],
    pub key: Option<&'a IdempotencyKey>,
    pub now: Timestamp,
}

/// Stores a note in the chat. The note changes neither the preview of the last message nor the time of the last
/// activity. Fails with `NotFound` if the chat is being erased or no longer exists.
pub async fn add_note(chats: &Chats, chat: Chat, note: &NewNote<'_>) -> Result<MessageReceipt, Error> {
    let mut chat = chat;
    let mut races = WriteRaces::new("note");
    loop {
        if let Some(receipt) = chats.earlier_receipt(note.key).await? {
            return Ok(receipt);
        }
        let entry = note.entry(&chat)?;
        let written = chats.write_note(&chat, &entry, note.key).await;
        if let Some(result) = races.final_result(written) {
            return result.map(|()| MessageReceipt::of(&entry));
        }
        chat = chats.chat(&chat.account_id, chat.chat_id).await?.ok_or(Error::NotFound)?;
    }
}

impl NewNote<'_> {
    fn entry(&self, chat: &Chat) -> Result<TimelineEntry, Error> {
        let content = Content::Note { text: self.text.to_owned(), mentions: self.mentions.to_vec() };
        let header = Chat { seq: chat.seq + 1, ..chat.clone() };
        new_entry(&header, Sender::Agent(self.agent.clone()), content, self.now)
    }
}
