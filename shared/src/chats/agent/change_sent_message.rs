//! An agent edits or deletes a message that was sent to the visitor of a widget. The new text takes the place of the
//! earlier one, which is not kept.

use crate::domain::chats::sent_message_change::{ChangingAgent, SentMessageChange};
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::Chats;
use crate::store::write_races::WriteRaces;

/// Makes the change and returns the message after it. Makes no write if nothing changes. The caller must then delete
/// the files of a deleted message.
///
/// Webhooks and bots are not notified: one that already got the message keeps the earlier text, and later events
/// contain the new one.
///
/// # Errors
/// Fails with `NotFound` if there is no such entry, and as [`SentMessageChange::applied_to`] does.
pub async fn change_sent_message(
    chats: &Chats,
    (account_id, chat_id, seq): (&str, u64, u64),
    change: &SentMessageChange,
    by: ChangingAgent,
    now: Timestamp,
) -> Result<TimelineEntry, Error> {
    let mut races = WriteRaces::new("change of a sent message");
    loop {
        let (entry, chat) = chats.entry_and_chat(account_id, chat_id, seq).await?.ok_or(Error::NotFound)?;
        let Some(changed) = change.applied_to(&entry, &chat, by, now)? else { return Ok(entry) };
        let written = chats.store_changed_message(&changed, &chat, now).await;
        if let Some(result) = races.final_result(written) {
            return result.map(|()| changed);
        }
    }
}
