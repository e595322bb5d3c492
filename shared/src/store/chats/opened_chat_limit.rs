//! The limit on chats that one channel opens. Each chat is counted by one conditional write before it is opened, so no
//! number of concurrent requests exceeds the limit. A process that has met a full window refuses without a write until
//! the window ends.

use crate::domain::rate::window_at;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::Chats;
use crate::store::table::{ItemUpdate, Key, Refused, n};

/// How long a count is kept after its window, in seconds.
const COUNTER_TTL_SECONDS: u64 = 60;

impl Chats {
    /// Counts a chat that a channel is about to open, of `limit` in a window. One write; none in a full window.
    pub(in crate::store) async fn count_opened_chat(
        &self,
        channel_id: &str,
        limit: u32,
        now: Timestamp,
    ) -> Result<(), Error> {
        let (window, end) = window_at(now);
        let full = || Error::TooManyChats(end.since(now));
        if self.full_windows.get(channel_id).flatten().is_some_and(|known| *known == window) {
            return Err(full());
        }
        let change = ItemUpdate {
            key: Key::new(format!("OPENED_CHATS#{channel_id}"), format!("{window}")),
            update: "ADD #count :one SET #expires_at = :expires_at",
            condition: "attribute_not_exists(#count) OR #count < :limit",
            values: vec![(":one", n(1)), (":expires_at", n(end.seconds() + COUNTER_TTL_SECONDS)), (":limit", n(limit))],
        };
        match self.table.update(change).await {
            Ok(_) => Ok(()),
            Err(Refused::Condition { .. }) => {
                self.full_windows.put(channel_id, Some(window));
                Err(full())
            }
            Err(refused) => Err(refused.into()),
        }
    }
}
