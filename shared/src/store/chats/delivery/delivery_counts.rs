//! Counts an account's failed and pending deliveries up to a limit. Reads only the keys in the `due` index, not the
//! entries.

use futures_util::future::try_join_all;

use crate::domain::deliveries::delivery_search_and_replay::CappedCount;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::delivery::due_index::{Backlog, DUE_PARTITIONS, failed_partition};
use crate::store::chats::{CHAT_PREFIX, Chats};
use crate::store::table::{Query, n, s};

const MAX_COUNT: u32 = 100;
/// If a partition contains more pending deliveries, the rest are not counted, and the count is only a lower bound.
const MAX_EXAMINED_PER_PARTITION: i32 = 100;

impl Chats {
    /// Counts the failed deliveries whose entries were made between `from` and `to`.
    pub async fn count_failed(&self, account_id: &str, from: Timestamp, to: Timestamp) -> Result<CappedCount, Error> {
        let query = Query {
            index: Some("due"),
            condition: "#due = :failed AND #due_at BETWEEN :from AND :to",
            values: vec![(":failed", s(failed_partition(account_id))), (":from", n(from.0)), (":to", n(to.0))],
            limit: i32::try_from(MAX_COUNT + 1).map_err(Error::internal)?,
            descending: true,
        };
        let found = self.table.query_page(query, "", None).await?.items.len();
        Ok(CappedCount::new(found, MAX_COUNT, false))
    }

    /// Counts the account's pending deliveries. The `due` index contains the pending deliveries of all accounts, spread
    /// over 32 partitions.
    pub async fn count_pending(&self, account_id: &str) -> Result<CappedCount, Error> {
        let pages = try_join_all((0..DUE_PARTITIONS).map(|partition| {
            let query = Query {
                index: Some("due"),
                condition: "#due = :due",
                values: vec![
                    (":due", s(Backlog::Deliveries.partition_of(partition))),
                    (":chats", s(format!("{CHAT_PREFIX}{account_id}#"))),
                ],
                limit: MAX_EXAMINED_PER_PARTITION,
                descending: true,
            };
            self.table.query_page(query, "begins_with(#pk, :chats)", None)
        }));
        let pages = pages.await?;
        let found = pages.iter().map(|page| page.items.len()).sum();
        Ok(CappedCount::new(found, MAX_COUNT, pages.iter().any(|page| page.next.is_some())))
    }
}
