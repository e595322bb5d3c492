//! Limits the number of chats that a channel can open in a time window. A conditional write counts each chat before it
//! is opened, so concurrent requests cannot exceed the limit. Once a process finds that a window's limit has been
//! reached, it rejects further chats without a write until the window ends.

use crate::domain::rate_limit::{RATE_WINDOW, fixed_window};
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::Chats;
use crate::store::table::{ItemUpdate, Key, WriteError, n};

/// How long after the end of its window a count expires.
const COUNTER_TTL_SECONDS: u64 = 60;

pub(in crate::store) fn opened_chats_key(channel_id: &str, window: u64) -> Key {
    Key::new(format!("OPENED_CHATS#{channel_id}"), format!("{window}"))
}

impl Chats {
    /// Counts a new chat in a channel. Fails with [`Error::TooManyChats`] if the channel has already opened `limit`
    /// chats in the current window. Costs one write, or nothing if this process already knows that the limit has been
    /// reached.
    pub(in crate::store) async fn count_opened_chat(
        &self,
        channel_id: &str,
        limit: u32,
        now: Timestamp,
    ) -> Result<(), Error> {
        let (window, end) = fixed_window(RATE_WINDOW, now);
        let limit_reached = || Error::TooManyChats(end.since(now));
        if self.full_windows.get(channel_id).flatten().is_some_and(|full_window| *full_window == window) {
            return Err(limit_reached());
        }
        let update = ItemUpdate {
            key: opened_chats_key(channel_id, window),
            update: "ADD #count :one SET #expires_at = :expires_at",
            condition: "attribute_not_exists(#count) OR #count < :limit",
            values: vec![(":one", n(1)), (":expires_at", n(end.seconds() + COUNTER_TTL_SECONDS)), (":limit", n(limit))],
        };
        match self.table.update(update).await {
            Ok(_) => Ok(()),
            Err(WriteError::ConditionFailed { .. }) => {
                self.full_windows.put(channel_id, Some(window));
                Err(limit_reached())
            }
            Err(error) => Err(error.into()),
        }
    }
}
