//! Creates timeline entries.

use crate::domain::chats::chat::{Chat, Sender};
use crate::domain::chats::message_content::Content;
use crate::domain::chats::message_receipt::ReceiptTimes;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::runtime::random_ids_and_secrets::new_message_id;

/// Returns an entry with the number `header.seq` that is not delivered to anyone.
pub(super) fn new_entry(header: &Chat, from: Sender, content: Content, now: Timestamp) -> Result<TimelineEntry, Error> {
    Ok(TimelineEntry {
        account_id: header.account_id.clone(),
        chat_id: header.chat_id,
        seq: header.seq,
        id: new_message_id(header.chat_id, header.seq, now)?,
        from,
        content,
        at: now,
        caused_by: None,
        webhook_dispatch: None,
        receipt: ReceiptTimes::default(),
        edited_at: None,
        deleted_at: None,
        retain_until: header.retain_until(now),
        delivery: None,
    })
}
