//! The Chats table, which stores visitors, chat headers and timelines (docs/design.md). This file contains the keys,
//! the simple reads, and the write that stores an entry. The other reads and single writes are in the folders,
//! one for each topic. They know no use case.

pub mod calls;
pub mod delivery;
pub mod expiry;
pub mod items;
pub mod listing;
pub mod planned_messages;
pub mod report_counters;
pub mod status_watches;
pub mod visitors;
pub mod writes;

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use crate::domain::chats::chat::Chat;
use crate::domain::chats::idempotency_key::IdempotencyKey;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::timestamp::Timestamp;
use crate::domain::visitors::visitor::Visitor;
use crate::error::Error;
use crate::runtime::dependencies::{Dependency, StartupContext};
use crate::store::cache::Cache;
use crate::store::chats::delivery::pending_refusals::PendingRefusals;
use crate::store::chats::items::{EntryItem, HeaderItem, VisitorItem, VisitorNumberItem};
use crate::store::chats::listing::recent_open_chats::RecentOpenChats;
use crate::store::chats::status_watches::{ACCOUNT_EVENTS, account_events_header};
use crate::store::table::{Item, Key, Query, Table, Write, WriteError, item_key, s};
use crate::store::{from_item, to_item};

pub(crate) const CHAT_ID_UPPER_BOUND: u64 = u32::MAX as u64;
const MAX_QUERY_ITEMS: i32 = 2_000;
/// The largest entry number that fits into a sort key.
pub(crate) const MAX_SEQ: u64 = 9_999_999_999;

#[derive(Clone)]
pub struct Chats {
    pub(crate) table: Table,
    /// Maps a channel to the number of the time window in which the channel reached its limit on new chats.
    pub(crate) full_windows: Arc<Cache<u64>>,
    pub(crate) pending_refusals: Arc<PendingRefusals>,
    pub(crate) recent_open_chats: Arc<RecentOpenChats>,
}

impl Dependency for Chats {
    fn open(startup: &mut StartupContext) -> Self {
        Self::new(Table::open(startup, "CHATS_TABLE"))
    }
}

/// A chat's partition key consists of this prefix, the account id, `#` and the chat number.
pub(crate) const CHAT_PREFIX: &str = "CHAT#";

pub(crate) fn chat_pk(account_id: &str, chat_id: u64) -> String {
    format!("{CHAT_PREFIX}{account_id}#{chat_id}")
}

/// The sort key of a chat's header. It sorts after the entries, because their sort keys consist of digits.
pub(crate) const HEADER_SORT_KEY: &str = "HEAD";

pub(crate) const ERASED_CHAT_SORT_KEY: &str = "ERASED";

pub(crate) fn header_key(account_id: &str, chat_id: u64) -> Key {
    Key::new(chat_pk(account_id, chat_id), HEADER_SORT_KEY)
}

/// Returns the key of the item that records the erasure of a chat. The item contains no data of the visitor.
pub(crate) fn erased_chat_key(account_id: &str, chat_id: u64) -> Key {
    Key::new(format!("ERASED_CHAT#{account_id}#{chat_id}"), ERASED_CHAT_SORT_KEY)
}

pub(crate) fn entry_key(account_id: &str, chat_id: u64, seq: u64) -> Key {
    Key::new(chat_pk(account_id, chat_id), entry_sort_key(seq))
}

pub(crate) fn entry_sort_key(seq: u64) -> String {
    format!("{seq:010}")
}

pub(crate) const PANEL_SORT_KEY: &str = "PANEL";

pub(crate) fn panel_key(account_id: &str, chat_id: u64) -> Key {
    Key::new(chat_pk(account_id, chat_id), PANEL_SORT_KEY)
}

pub(crate) const VISITOR_PREFIX: &str = "VISITOR#";

/// Returns the key of a visitor's item. The key contains a hash of the visitor's id in the channel, because the id
/// itself may be long and may be personal data.
pub(crate) fn visitor_key(channel_id: &str, external_id: &str) -> Key {
    Key::new(format!("{VISITOR_PREFIX}{channel_id}#{}", crate::domain::sha256::hex_digest(external_id)), "VISITOR")
}

pub(crate) fn visitor_number_key(account_id: &str, number: u64) -> Key {
    Key::new(format!("VISITOR_NUMBER#{account_id}#{number}"), "VISITOR")
}

pub(crate) fn counters_key(account_id: &str) -> Key {
    Key::new(format!("COUNTERS#{account_id}"), "COUNTERS")
}

pub(crate) fn listing_key(account_id: &str, state: &str) -> String {
    format!("{account_id}#{state}")
}

pub(crate) fn chat_from_item(item: Item) -> Result<Chat, Error> {
    from_item::<HeaderItem>(item)?.try_into()
}

pub(crate) fn visitor_from_item(item: Item) -> Result<Visitor, Error> {
    Ok(from_item::<VisitorItem>(item)?.into())
}

pub(crate) fn entry_from_item(item: Item) -> Result<TimelineEntry, Error> {
    from_item::<EntryItem>(item)?.try_into()
}

pub(crate) fn entry_write(entry: &TimelineEntry) -> Result<Write, Error> {
    to_item(&EntryItem::from(entry)).map(Write::Create)
}

pub(crate) fn item_chat_id(item: &Item) -> Option<u64> {
    item.get("chat_id")?.as_n().ok()?.parse().ok()
}

pub(crate) fn item_due_at(item: &Item) -> Option<Timestamp> {
    item.get("due_at")?.as_n().ok()?.parse().ok().map(Timestamp)
}

pub(crate) fn split_headers(items: Vec<Item>) -> (Vec<Item>, Vec<Item>) {
    items.into_iter().partition(|item| item.contains_key("state"))
}

/// Returns the query for the entries with the numbers `seqs`, oldest first. Returns `None` if the range is empty,
/// because DynamoDB rejects a range whose end precedes its start, or if it ends after [`MAX_SEQ`].
pub(crate) fn timeline_query(account_id: &str, chat_id: u64, seqs: RangeInclusive<u64>, limit: i32) -> Option<Query> {
    let (first, last) = seqs.into_inner();
    (first <= last && last <= MAX_SEQ).then(|| Query {
        index: None,
        condition: "#pk = :chat AND #sk BETWEEN :first AND :last",
        values: vec![
            (":chat", s(chat_pk(account_id, chat_id))),
            (":first", s(entry_sort_key(first))),
            (":last", s(entry_sort_key(last))),
        ],
        limit,
        descending: false,
    })
}

impl Chats {
    pub fn new(table: Table) -> Self {
        Self {
            table,
            full_windows: Arc::default(),
            pending_refusals: Arc::default(),
            recent_open_chats: Arc::default(),
        }
    }

    /// Reads the header of a chat.
    pub async fn chat(&self, account_id: &str, chat_id: u64) -> Result<Option<Chat>, Error> {
        self.table.get(header_key(account_id, chat_id)).await?.map(chat_from_item).transpose()
    }

    /// Reads the headers of at most 100 chats and returns them in the order of `chat_ids`. Chats that do not exist are
    /// omitted.
    pub async fn chats_by_id(&self, account_id: &str, chat_ids: &[u64]) -> Result<Vec<Chat>, Error> {
        let items = self.table.batch_get(chat_ids.iter().map(|id| header_key(account_id, *id)).collect()).await?;
        let chats = items.into_iter().map(|item| chat_from_item(item).map(|chat| (chat.chat_id, chat)));
        let mut chats: HashMap<u64, Chat> = chats.collect::<Result<_, _>>()?;
        Ok(chat_ids.iter().filter_map(|id| chats.remove(id)).collect())
    }

    pub async fn visitor(&self, channel_id: &str, external_id: &str) -> Result<Option<Visitor>, Error> {
        let item = self.table.get(visitor_key(channel_id, external_id)).await?;
        item.map(visitor_from_item).transpose()
    }

    /// Reads the visitor with this number. Returns `None` if there is no such visitor or the visitor has expired.
    pub async fn visitor_by_number(
        &self,
        account_id: &str,
        number: u64,
        now: Timestamp,
    ) -> Result<Option<Visitor>, Error> {
        let Some(item) = self.table.get(visitor_number_key(account_id, number)).await? else { return Ok(None) };
        let VisitorNumberItem { visitor_pk, visitor_sk, .. } = from_item(item)?;
        let item = self.table.get(Key::new(visitor_pk, visitor_sk)).await?;
        let visitor = item.map(visitor_from_item).transpose()?;
        Ok(visitor.filter(|visitor| !visitor.is_expired(now)))
    }

    pub async fn entry(&self, account_id: &str, chat_id: u64, seq: u64) -> Result<Option<TimelineEntry>, Error> {
        self.table.get(entry_key(account_id, chat_id, seq)).await?.map(entry_from_item).transpose()
    }

    /// Reads an entry and the header of its chat in one request. Returns `None` if either does not exist.
    pub async fn entry_and_chat(
        &self,
        account_id: &str,
        chat_id: u64,
        seq: u64,
    ) -> Result<Option<(TimelineEntry, Chat)>, Error> {
        let keys = vec![header_key(account_id, chat_id), entry_key(account_id, chat_id, seq)];
        let items = self.table.batch_get(keys).await?;
        let (headers, entries) = split_headers(items);
        match (entries.into_iter().next(), headers.into_iter().next()) {
            (Some(item), Some(header)) => Ok(Some((entry_from_item(item)?, chat_from_item(header)?))),
            (Some(item), None) if chat_id == ACCOUNT_EVENTS => {
                Ok(Some((entry_from_item(item)?, account_events_header(account_id))))
            }
            _ => Ok(None),
        }
    }

    /// Reads the entries with numbers above `after`, oldest first: at most `limit` entries, and at most one megabyte.
    pub async fn timeline(
        &self,
        account_id: &str,
        chat_id: u64,
        after: u64,
        limit: i32,
    ) -> Result<Vec<TimelineEntry>, Error> {
        let seqs = after.saturating_add(1)..=MAX_SEQ;
        let Some(query) = timeline_query(account_id, chat_id, seqs, limit) else { return Ok(Vec::new()) };
        self.table.query(query).await?.into_iter().map(entry_from_item).collect()
    }

    /// Reads entries like [`timeline`](Self::timeline), together with the chat's header. The header sorts directly
    /// after the last entry, so one query usually reads both.
    pub async fn timeline_and_chat(
        &self,
        account_id: &str,
        chat_id: u64,
        after: u64,
        limit: i32,
    ) -> Result<(Vec<TimelineEntry>, Option<Chat>), Error> {
        let first = if after < MAX_SEQ { entry_sort_key(after + 1) } else { HEADER_SORT_KEY.to_owned() };
        let query = Query {
            index: None,
            condition: "#pk = :chat AND #sk BETWEEN :first AND :head",
            values: vec![
                (":chat", s(chat_pk(account_id, chat_id))),
                (":first", s(first)),
                (":head", s(HEADER_SORT_KEY)),
            ],
            limit: limit.saturating_add(1),
            descending: false,
        };
        let mut items = self.table.query(query).await?;
        let header = match items.pop_if(|item| item.get("sk") == Some(&s(HEADER_SORT_KEY))) {
            Some(item) => Some(chat_from_item(item)?),
            None => self.chat(account_id, chat_id).await?,
        };
        items.truncate(usize::try_from(limit).map_err(Error::internal)?);
        Ok((items.into_iter().map(entry_from_item).collect::<Result<_, _>>()?, header))
    }

    /// Reads the first `max_entries` entries, regardless of their size.
    pub async fn whole_timeline(
        &self,
        account_id: &str,
        chat_id: u64,
        max_entries: usize,
    ) -> Result<Vec<TimelineEntry>, Error> {
        let Some(query) = timeline_query(account_id, chat_id, 1..=MAX_SEQ, MAX_QUERY_ITEMS) else {
            return Ok(Vec::new());
        };
        self.table.query_all(query, max_entries).await?.into_iter().map(entry_from_item).collect()
    }

    /// Makes several writes, which succeed or fail together.
    pub(crate) async fn transact(&self, writes: Vec<Write>) -> Result<(), WriteError> {
        self.table.transact(writes).await
    }

    /// Stores an entry and, with an idempotency key, the receipt of the request. Makes the writes in `others` in the
    /// same transaction.
    pub(crate) async fn store_entry_with(
        &self,
        entry: &TimelineEntry,
        key: Option<&IdempotencyKey>,
        mut others: Vec<Write>,
    ) -> Result<(), WriteError> {
        let item = to_item(&EntryItem::from(entry))?;
        others.extend(key.map(|key| key.receipt_write(entry)).transpose()?);
        if others.is_empty() {
            return self.table.put(item, true).await;
        }
        others.push(Write::Create(item));
        self.table.transact(others).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_range_of_entries_makes_no_query() {
        for (first, last, expected) in [(1, MAX_SEQ, true), (7, 7, true), (7, 6, false), (7, u64::MAX, false)] {
            assert_eq!(timeline_query("acc", 1, first..=last, 1).is_some(), expected, "{first} to {last}");
        }
    }
}
