//! A page of a chat's timeline.

use crate::domain::chats::chat::Chat;
use crate::domain::chats::timeline_entry::{self, TimelineEntry};
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::Chats;

/// Returns the first entries after `after` that have not expired, of which `page` are the first as they were read.
/// Pages that contain only expired entries are skipped, because clients treat an empty page as the end of the timeline.
/// A page ends before a gap that a concurrent request may still fill.
pub async fn unexpired_entries(
    chats: &Chats,
    chat: &Chat,
    mut page: Vec<TimelineEntry>,
    mut after: u64,
    limit: i32,
    now: Timestamp,
) -> Result<Vec<TimelineEntry>, Error> {
    loop {
        let mut entries = timeline_entry::stable_prefix(page, after, now);
        let Some(last) = entries.last().map(|entry| entry.seq) else { return Ok(entries) };
        entries.retain(|entry| !entry.is_expired(now));
        if !entries.is_empty() {
            return Ok(entries);
        }
        after = last;
        page = chats.timeline(&chat.account_id, chat.chat_id, after, limit).await?;
    }
}
