//! An integrator reports that a visitor has edited a message. The new text takes the place of the earlier one, which is
//! not kept.

use futures_util::future::{try_join, try_join3};

use crate::domain::channels::channel::Channel;
use crate::domain::chats::chat::Chat;
use crate::domain::chats::idempotency_key::{IdempotencyKey, MessageReceipt};
use crate::domain::chats::message_content::Content;
use crate::domain::chats::message_id;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::Chats;
use crate::store::chats::writes::edit_write::MessageEdit;
use crate::store::write_races::WriteRaces;

#[derive(Clone, Copy)]
pub struct VisitorEdit<'a> {
    pub channel: &'a Channel,
    /// The visitor's `sender.id`, as text.
    pub external_id: &'a str,
    /// The id of the message whose text is replaced.
    pub message_id: &'a str,
    pub content: &'a Content,
    /// The limit on the visitor's messages in a window. An edit counts like a message.
    pub max_messages: u32,
    pub key: Option<&'a IdempotencyKey>,
    pub now: Timestamp,
}

/// Replaces the text of a visitor's message. Returns `None` and stores nothing if the visitor is blacklisted. Nobody is
/// notified: a bot or a webhook that already got the message keeps the earlier text.
///
/// # Errors
/// Fails with `NotFound` unless the visitor wrote a message with this id in the channel, with `Invalid` if the message
/// is not a text, and with `Conflict` if its chat is closed. Also fails if a rate limit is exceeded, or if an earlier
/// request with the same idempotency key had a different body.
pub async fn edit_visitor_text(chats: &Chats, edit: &VisitorEdit<'_>) -> Result<Option<MessageReceipt>, Error> {
    let VisitorEdit { channel, external_id, message_id, content, max_messages, key, now } = *edit;
    let mut races = WriteRaces::new("edit of a message");
    loop {
        let visitor = chats.visitor(&channel.channel_id, external_id);
        let (receipt, visitor, found) =
            try_join3(chats.earlier_receipt(key), visitor, stored_message(chats, &channel.account_id, message_id))
                .await?;
        if receipt.is_some() {
            return Ok(receipt);
        }
        if visitor.ok_or(Error::NotFound)?.blacklisted {
            return Ok(None);
        }
        let (entry, chat) = found.filter(|found| is_message_of(found, edit)).ok_or(Error::NotFound)?;
        require_editable(&entry, &chat)?;
        let write = MessageEdit { entry: &entry, chat: &chat, content, max_messages, key, now };
        if let Some(result) = races.final_result(chats.store_edit(&write).await) {
            return result.map(|()| Some(MessageReceipt::of(&entry)));
        }
    }
}

/// Reads the entry with this id and the header of its chat.
async fn stored_message(
    chats: &Chats,
    account_id: &str,
    message_id: &str,
) -> Result<Option<(TimelineEntry, Chat)>, Error> {
    let Some((chat_id, seq)) = message_id::chat_and_seq(message_id) else { return Ok(None) };
    let (entry, chat) = try_join(chats.entry(account_id, chat_id, seq), chats.chat(account_id, chat_id)).await?;
    Ok(entry.zip(chat))
}

fn is_message_of((entry, chat): &(TimelineEntry, Chat), edit: &VisitorEdit<'_>) -> bool {
    let is_of_visitor = chat.channel_id == edit.channel.channel_id && chat.external_id == edit.external_id;
    let is_message = entry.id == edit.message_id && entry.is_visitor_message();
    is_of_visitor && is_message && !entry.is_expired(edit.now)
}

fn require_editable(entry: &TimelineEntry, chat: &Chat) -> Result<(), Error> {
    if entry.content.name() != Content::TEXT {
        return Err(Error::field("message.edits", "must be the id of a text message"));
    }
    if chat.state.is_closed() {
        return Err(Error::Conflict("the chat of the message is closed"));
    }
    Ok(())
}
