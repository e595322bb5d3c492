//! The sparse `due` index, which contains only the items that have the `due` attribute. Scheduled functions process its
//! pending deliveries, open chats and retention passes when they are due. The index also lists failed deliveries,
//! closed chats and erased chats.

use aws_sdk_dynamodb::types::AttributeValue;

use crate::domain::deliveries::retry_schedule;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::{Chats, item_due_at, item_key};
use crate::store::table::{Item, Key, Query, n, s};

/// The number of partitions of each backlog in the `due` index. All accounts share a backlog, and one partition allows
/// only about 1,000 writes per second. Never reduce this number, because items in the removed partitions would no
/// longer be found.
pub const DUE_PARTITIONS: u64 = 32;

/// A kind of item in the `due` index that a scheduled function processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backlog {
    /// Pending deliveries. A delivery is due at the end of its round.
    Deliveries,
    /// Open chats. A chat is due at its next idle check.
    IdleChecks,
}

impl Backlog {
    /// Returns the backlog's name in metrics.
    pub fn name(self) -> &'static str {
        match self {
            Self::Deliveries => "deliveries",
            Self::IdleChecks => "idle_checks",
        }
    }

    pub(crate) fn partition_of(self, chat_id: u64) -> String {
        self.partition(chat_id % DUE_PARTITIONS)
    }

    fn partition(self, number: u64) -> String {
        match self {
            Self::Deliveries => number.to_string(),
            Self::IdleChecks => format!("idle#{number}"),
        }
    }
}

/// The partition of the work on whole accounts: retention passes and deletions of accounts.
pub(crate) const ACCOUNT_WORK_PARTITION: &str = "retention";

/// The partition of the messages that agents have planned. A message is due when it is to be sent. One partition is
/// enough, because such messages are rare.
pub(crate) const PLANNED_MESSAGES_PARTITION: &str = "planned";

/// Returns the partition of an account's failed deliveries, which are sorted by the time of their entries.
pub(crate) fn failed_partition(account_id: &str) -> String {
    format!("{account_id}#failed")
}

/// Returns the partition of an account's closed and erased chats, which are sorted by the time at which they were
/// closed, last changed or erased.
pub(crate) fn closed_chats_partition(account_id: &str) -> String {
    format!("{account_id}#closed")
}

/// The assignments that add a chat to the account's closed chats, or move it to a later time among them. Their values
/// are [`closed_chat_values`].
macro_rules! set_closed_chat {
    () => {
        "#due = :due, #due_at = :due_at"
    };
}
pub(crate) use set_closed_chat;

/// Returns the values of [`set_closed_chat`]. `at` is the time at which the chat was closed, or at which the closed
/// chat was changed later.
pub(crate) fn closed_chat_values(account_id: &str, at: Timestamp) -> [(&'static str, AttributeValue); 2] {
    [(":due", s(closed_chats_partition(account_id))), (":due_at", n(at.0))]
}

/// Returns the time at which a delivery becomes overdue if its round started at `since`.
pub(crate) fn delivery_due_at(since: Timestamp) -> Timestamp {
    since.plus(retry_schedule::DELIVERY_WINDOW)
}

/// An item in the `due` index whose due time has passed. Its `Display` output is its key, which contains only ids and
/// can therefore be logged.
pub struct OverdueItem {
    pub(crate) key: Key,
    pub due_at: Timestamp,
}

impl std::fmt::Display for OverdueItem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Key { pk, sk } = &self.key;
        write!(f, "{pk} {sk}")
    }
}

pub struct OverduePage {
    pub items: Vec<OverdueItem>,
    /// The next page starts after this position. `None` means that this is the last page.
    pub next: Option<OverdueCursor>,
}

#[derive(Clone)]
pub struct OverdueCursor(Item);

impl Chats {
    /// Reads at most `limit` items in a partition of a backlog that were due before `before`, oldest first. Starts
    /// after the position `after`, if there is one.
    pub async fn overdue(
        &self,
        backlog: Backlog,
        partition: u64,
        before: Timestamp,
        after: Option<OverdueCursor>,
        limit: i32,
    ) -> Result<OverduePage, Error> {
        self.due_items(backlog.partition(partition), before, after, limit).await
    }

    /// Reads a page like [`overdue`](Self::overdue), but takes the partition key in the `due` index.
    pub(crate) async fn due_items(
        &self,
        partition: String,
        before: Timestamp,
        after: Option<OverdueCursor>,
        limit: i32,
    ) -> Result<OverduePage, Error> {
        let query = Query {
            index: Some("due"),
            condition: "#due = :due AND #due_at < :before",
            values: vec![(":due", s(partition)), (":before", n(before.0))],
            limit,
            descending: false,
        };
        let page = self.table.query_page(query, "", after.map(|OverdueCursor(key)| key)).await?;
        let items = page
            .items
            .into_iter()
            .filter_map(|item| Some(OverdueItem { key: item_key(&item)?, due_at: item_due_at(&item)? }));
        Ok(OverduePage { items: items.collect(), next: page.next.map(OverdueCursor) })
    }
}
