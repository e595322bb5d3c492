//! Reads the last entries of a timeline, up to the limits of a chat_finished event.

use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::error::Error;
use crate::store::chats::{Chats, MAX_SEQ, entry_from_item, timeline_query};
use crate::store::table::Query;

const MAX_TRANSCRIPT_ENTRIES_PER_QUERY: i32 = 1_000;
/// A transcript may need many queries: one query returns at most one megabyte, and entries with many delivery attempts
/// are large.
const MAX_TRANSCRIPT_QUERIES: usize = 20;

#[derive(Clone, Copy)]
pub struct TranscriptLimits {
    pub max_entries: usize,
    /// The maximum total size of the entries, as computed by `entry_bytes`.
    pub max_bytes: usize,
    pub entry_bytes: fn(&TimelineEntry) -> usize,
}

impl Chats {
    /// Reads as many of a chat's last entries as the limits allow, and returns them oldest first.
    pub async fn last_entries(
        &self,
        account_id: &str,
        chat_id: u64,
        limits: TranscriptLimits,
    ) -> Result<Vec<TimelineEntry>, Error> {
        let limit = i32::try_from(limits.max_entries).unwrap_or(i32::MAX).min(MAX_TRANSCRIPT_ENTRIES_PER_QUERY);
        let Some(query) = timeline_query(account_id, chat_id, 1..=MAX_SEQ, limit) else {
            return Ok(Vec::new());
        };
        let query = Query { descending: true, ..query };
        let (mut last, mut bytes, mut after) = (Vec::new(), 0, None);
        'pages: for _ in 0..MAX_TRANSCRIPT_QUERIES {
            let page = self.table.query_page(query.clone(), "", after).await?;
            for item in page.items {
                let entry = entry_from_item(item)?;
                bytes += (limits.entry_bytes)(&entry);
                if bytes > limits.max_bytes {
                    break 'pages;
                }
                last.push(entry);
                if last.len() >= limits.max_entries {
                    break 'pages;
                }
            }
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        last.reverse();
        Ok(last)
    }
}
