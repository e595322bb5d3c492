//! An integrator reports that a message has reached the visitor, or that the visitor has read it.

use crate::domain::channels::channel::Channel;
use crate::domain::chats::message_id;
use crate::domain::chats::message_receipt::ReceiptKind;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::Chats;

pub struct ReceivedReceipt<'a> {
    pub channel: &'a Channel,
    /// The visitor's `sender.id`, as text.
    pub external_id: &'a str,
    pub message_id: &'a str,
    pub kind: ReceiptKind,
    pub now: Timestamp,
}

/// Stores the receipt in the entry of the message. A repeated receipt changes nothing.
///
/// # Errors
/// Fails with `NotFound` unless the visitor got a message with this id from the channel.
pub async fn receive_receipt(chats: &Chats, receipt: &ReceivedReceipt<'_>) -> Result<(), Error> {
    let ReceivedReceipt { channel, external_id, message_id, kind, now } = *receipt;
    let (chat_id, seq) = message_id::chat_and_seq(message_id).ok_or(Error::NotFound)?;
    let found = chats.entry_and_chat(&channel.account_id, chat_id, seq).await?;
    let (entry, _) = found
        .filter(|(_, chat)| chat.channel_id == channel.channel_id && chat.external_id == external_id)
        .filter(|(entry, _)| entry.id == message_id && entry.is_message_to_visitor() && !entry.is_expired(now))
        .ok_or(Error::NotFound)?;
    if entry.receipt.include(kind) { Ok(()) } else { chats.store_receipt(&entry, kind, now).await }
}
