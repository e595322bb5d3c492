//! Messages that a channel refused, counted by reason and day (UTC) for the admin; a count is kept for three days. A
//! process writes at most `MAX_WRITES` counts of a channel in ten seconds and adds up the others until a later refusal.
//! What it has added up when it ends is lost, so the counts are exact unless somebody floods the channel.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::try_join;
use serde::Deserialize;

use crate::domain::channel::Refusals;
use crate::domain::rate::window_at;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::Chats;
use crate::store::from_item;
use crate::store::table::{ItemUpdate, Key, Query, n, s};

/// Counts that a process writes of a channel in ten seconds.
const MAX_WRITES: usize = 20;
/// Channels that a process remembers.
const MAX_CHANNELS: usize = 1_000;
/// Reasons of a day that are shown.
const MAX_REASONS: i32 = 100;
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// How long a count is kept.
const COUNTER_TTL: Duration = Duration::from_secs(3 * 24 * 60 * 60);

/// What a process has counted and not written, by channel.
#[derive(Default)]
pub(in crate::store) struct PendingRefusals(Mutex<HashMap<String, Pending>>);

#[derive(Default)]
struct Pending {
    window: u64,
    /// Counts written in this window.
    writes: usize,
    /// By reason; there are few, because they are in our own words.
    counts: HashMap<String, u64>,
}

#[derive(Deserialize)]
struct CountItem {
    sk: String,
    count: u64,
    last_at: u64,
}

fn day(at: Timestamp) -> u64 {
    at.seconds() / DAY.as_secs()
}

fn partition(channel_id: &str, day: u64) -> String {
    format!("REFUSED#{channel_id}#{day}")
}

impl Chats {
    /// Counts a message that a channel refused. A write or none, more after a flood. A count that cannot be written is
    /// lost: it must not change the answer.
    pub async fn count_refusal(&self, channel_id: &str, refused: &Error, now: Timestamp) {
        let Some(reason) = refused.refusal_reason() else { return };
        for (reason, count) in self.refusals.add(channel_id, reason, now) {
            let change = ItemUpdate {
                key: Key::new(partition(channel_id, day(now)), reason),
                update: "ADD #count :count SET #last_at = :now, #expires_at = :expires_at",
                condition: "",
                values: vec![
                    (":count", n(count)),
                    (":now", n(now.0)),
                    (":expires_at", n(now.after(COUNTER_TTL).seconds())),
                ],
            };
            if let Err(refused) = self.table.update(change).await {
                let error = Error::from(refused);
                tracing::warn!(context = ?error.context(), channel_id, count, "refused messages are not counted");
            }
        }
    }

    /// What a channel refused today and yesterday: today first, the most frequent reasons first. Two reads.
    pub async fn refusals(&self, channel_id: &str, now: Timestamp) -> Result<Vec<Refusals>, Error> {
        let today = day(now);
        let days = try_join(self.refusals_of(channel_id, today), self.refusals_of(channel_id, today.saturating_sub(1)));
        let (today, yesterday) = days.await?;
        Ok([today, yesterday].concat())
    }

    async fn refusals_of(&self, channel_id: &str, day: u64) -> Result<Vec<Refusals>, Error> {
        let query = Query {
            index: None,
            condition: "#pk = :day",
            values: vec![(":day", s(partition(channel_id, day)))],
            limit: MAX_REASONS,
            descending: false,
        };
        let read = |item| {
            let CountItem { sk: reason, count, last_at } = from_item(item)?;
            let day = Timestamp::from_seconds(day.saturating_mul(DAY.as_secs()));
            Ok(Refusals { day, reason, count, last_at: Timestamp(last_at) })
        };
        let found = self.table.query(query).await?.into_iter().map(read);
        let mut refusals = found.collect::<Result<Vec<_>, Error>>()?;
        refusals.sort_by_key(|refusals| std::cmp::Reverse(refusals.count));
        Ok(refusals)
    }
}

impl PendingRefusals {
    /// Counts a refusal; returns the counts that are to be written now.
    fn add(&self, channel_id: &str, reason: String, now: Timestamp) -> Vec<(String, u64)> {
        let mut channels = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if channels.len() >= MAX_CHANNELS && !channels.contains_key(channel_id) {
            channels.clear();
        }
        let pending = channels.entry(channel_id.to_owned()).or_default();
        let (window, _) = window_at(now);
        if pending.window != window {
            (pending.window, pending.writes) = (window, 0);
        }
        *pending.counts.entry(reason).or_default() += 1;
        let left = MAX_WRITES.saturating_sub(pending.writes);
        let due: Vec<_> = pending.counts.keys().take(left).cloned().collect();
        pending.writes += due.len();
        due.into_iter().filter_map(|reason| pending.counts.remove_entry(&reason)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(pending: &PendingRefusals, reason: &str, at: u64) -> Vec<(String, u64)> {
        pending.add("CH", reason.to_owned(), Timestamp(at))
    }

    #[test]
    fn a_flood_of_refusals_costs_twenty_writes_a_window() {
        let pending = PendingRefusals::default();
        let writes: usize = (0..1_000).map(|n| written(&pending, "a", n)).map(|due| due.len()).sum();
        assert_eq!(writes, MAX_WRITES);
        assert_eq!(written(&pending, "b", 9_999), []);
        let another = pending.add("another", "a".to_owned(), Timestamp(9_999));
        assert_eq!(another, [("a".to_owned(), 1)], "each channel has its own");
        let mut later = written(&pending, "a", 10_000);
        later.sort();
        assert_eq!(later, [("a".to_owned(), 981), ("b".to_owned(), 1)], "nothing is lost");
        assert_eq!(written(&pending, "b", 10_001), [("b".to_owned(), 1)]);
    }
}
