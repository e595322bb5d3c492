//! Reads the messages that a bot has not got, because the agents had the chat.

use crate::domain::bots::turn::is_unsent_message;
use crate::domain::chats::chat::{Chat, Sender};
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::error::Error;
use crate::store::chats::{Chats, entry_from_item, timeline_query};

/// The maximum number of entries that are read to find the messages.
const MAX_ENTRIES_READ: i32 = 100;

/// The number of entries before and after a message among which the rest of its turn is searched.
const TURN_RADIUS: u64 = 50;

impl Chats {
    /// Returns the entries before and after an entry, with the entry, oldest first.
    pub(crate) async fn entries_around(&self, entry: &TimelineEntry) -> Result<Vec<TimelineEntry>, Error> {
        let seqs = entry.seq.saturating_sub(TURN_RADIUS).max(1)..=entry.seq.saturating_add(TURN_RADIUS);
        let Some(query) = timeline_query(&entry.account_id, entry.chat_id, seqs, MAX_ENTRIES_READ + 1) else {
            return Ok(Vec::new());
        };
        self.table.query(query).await?.into_iter().map(entry_from_item).collect()
    }

    /// Returns the visitor's messages with numbers below `before_seq` after the last one that was sent to the chat's
    /// bot, oldest first, from the last 100 entries.
    pub(crate) async fn messages_without_bot(&self, chat: &Chat, before_seq: u64) -> Result<Vec<TimelineEntry>, Error> {
        let first = before_seq.saturating_sub(u64::from(MAX_ENTRIES_READ.unsigned_abs())).max(1);
        let seqs = first..=before_seq.saturating_sub(1);
        let Some(query) = timeline_query(&chat.account_id, chat.chat_id, seqs, MAX_ENTRIES_READ) else {
            return Ok(Vec::new());
        };
        let items = self.table.query(query).await?;
        let entries: Vec<TimelineEntry> = items.into_iter().map(entry_from_item).collect::<Result<_, _>>()?;
        let first_missed =
            entries.iter().rposition(|entry| was_sent_to_this_bot(entry, chat)).map_or(0, |last| last + 1);
        Ok(entries.into_iter().skip(first_missed).filter(TimelineEntry::is_visitor_message).collect())
    }
}

fn was_sent_to_this_bot(entry: &TimelineEntry, chat: &Chat) -> bool {
    let was_sent = entry.from == Sender::Visitor && entry.is_for_bot() && !is_unsent_message(entry);
    was_sent && chat.bot_of_entry(entry.seq) == chat.bot_id.as_deref()
}
