//! Counts the messages that a channel rejects, by reason and day (UTC). Admins see the counts. During a flood of
//! rejected messages, a process delays its writes. The delayed counts are lost if the process ends.

use std::time::Duration;

use futures_util::future::try_join;
use serde::Deserialize;

use crate::domain::channels::channel::RefusalCount;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::Chats;
use crate::store::from_item;
use crate::store::table::{ItemUpdate, Key, Query, WriteResult, n, s};

const MAX_LISTED_REASONS: i32 = 100;
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const COUNTER_TTL: Duration = Duration::from_secs(3 * 24 * 60 * 60);

#[derive(Deserialize)]
struct RefusalCountItem {
    sk: String,
    count: u64,
    last_at: u64,
}

fn day_number(at: Timestamp) -> u64 {
    at.seconds() / DAY.as_secs()
}

fn day_partition(channel_id: &str, day_number: u64) -> String {
    format!("REFUSED#{channel_id}#{day_number}")
}

impl Chats {
    /// Counts a rejected message, unless the error has no reason to be counted under. A failed write is logged and
    /// otherwise ignored, because it must not change the response to the message.
    pub async fn count_refusal(&self, channel_id: &str, refused: &Error, now: Timestamp) {
        let Some(reason) = refused.refusal_reason() else { return };
        for (reason, count) in self.pending_refusals.count(channel_id, reason, now) {
            let update = ItemUpdate {
                key: Key::new(day_partition(channel_id, day_number(now)), reason),
                update: "ADD #count :count SET #last_at = :now, #expires_at = :expires_at",
                condition: "",
                values: vec![
                    (":count", n(count)),
                    (":now", n(now.0)),
                    (":expires_at", n(now.plus(COUNTER_TTL).seconds())),
                ],
            };
            if let Err(error) = self.table.update(update).await.unconditional() {
                tracing::warn!(context = error.context(), channel_id, count, "refused messages are not counted");
            }
        }
    }

    /// Reads how many messages a channel rejected today and yesterday. Today comes first; within a day, the most
    /// frequent reasons come first.
    pub async fn refusal_counts(&self, channel_id: &str, now: Timestamp) -> Result<Vec<RefusalCount>, Error> {
        let today = day_number(now);
        let days = try_join(
            self.refusal_counts_of_day(channel_id, today),
            self.refusal_counts_of_day(channel_id, today.saturating_sub(1)),
        );
        let (today, yesterday) = days.await?;
        Ok([today, yesterday].concat())
    }

    async fn refusal_counts_of_day(&self, channel_id: &str, day_number: u64) -> Result<Vec<RefusalCount>, Error> {
        let query = Query {
            index: None,
            condition: "#pk = :day",
            values: vec![(":day", s(day_partition(channel_id, day_number)))],
            limit: MAX_LISTED_REASONS,
            descending: false,
        };
        let read = |item| {
            let RefusalCountItem { sk: reason, count, last_at } = from_item(item)?;
            let day = Timestamp::from_seconds(day_number.saturating_mul(DAY.as_secs()));
            Ok(RefusalCount { day, reason, count, last_at: Timestamp(last_at) })
        };
        let found = self.table.query(query).await?.into_iter().map(read);
        let mut refusal_counts = found.collect::<Result<Vec<_>, Error>>()?;
        refusal_counts.sort_by_key(|refused| std::cmp::Reverse(refused.count));
        Ok(refusal_counts)
    }
}
