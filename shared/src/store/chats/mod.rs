//! The Chats table: visitors, chat headers, timelines. What visitors and agents write, and what becomes of a
//! delivery, have files of their own: `visitor_writes`, `agent_writes`, `bot_writes`, `transitions`, `deliveries`.

pub mod agent_messages;
pub mod bot_messages;
pub mod chat_limit;
pub mod deliveries;
pub mod delivery_log;
pub mod erasure;
pub mod idempotency;
pub mod idle_check;
pub mod items;
pub mod listing;
pub mod offline_messages;
pub mod panels;
pub mod refusals;
pub mod retention;
pub mod transcript;
pub mod transfers;
pub mod transitions;
pub mod visitor_messages;
pub mod visitor_profile;

use std::sync::Arc;

use crate::domain::chat::Chat;
use crate::domain::entry::Entry;
use crate::domain::timestamp::Timestamp;
use crate::domain::visitor::Visitor;
use crate::error::Error;
use crate::runtime::dependencies::{Dependency, Platform};
use crate::store::cache::Cache;
use crate::store::chats::items::{EntryItem, HeadItem, NumberItem, VisitorItem};
use crate::store::chats::refusals::PendingRefusals;
use crate::store::from_item;
use crate::store::table::{Item, Key, Query, Table, s};

/// Above the number of every chat.
pub(in crate::store) const ABOVE_ALL: u64 = u32::MAX as u64;
/// Entries read at once where a whole timeline is wanted.
const MAX_QUERY_ITEMS: i32 = 2_000;
/// The largest number of an entry, as sort keys hold it.
pub(in crate::store) const LAST_SEQ: u64 = 9_999_999_999;

/// The Chats table.
#[derive(Clone)]
pub struct Chats {
    pub(in crate::store) table: Table,
    /// By channel: the last window in which it may open no more chats.
    pub(in crate::store) full_windows: Arc<Cache<u64>>,
    pub(in crate::store) refusals: Arc<PendingRefusals>,
}

impl Dependency for Chats {
    fn open(platform: &mut Platform) -> Self {
        Self::new(Table::open(platform, "CHATS_TABLE"))
    }
}

pub(in crate::store) fn chat_pk(account_id: &str, chat_id: u64) -> String {
    format!("CHAT#{account_id}#{chat_id}")
}

/// The sort key of a chat's header; entries have numbers.
pub(in crate::store) const HEAD: &str = "HEAD";

pub(in crate::store) fn head_key(account_id: &str, chat_id: u64) -> Key {
    Key::new(chat_pk(account_id, chat_id), HEAD)
}

pub(in crate::store) fn entry_key(account_id: &str, chat_id: u64, seq: u64) -> Key {
    Key::new(chat_pk(account_id, chat_id), format!("{seq:010}"))
}

pub(in crate::store) fn panel_key(account_id: &str, chat_id: u64) -> Key {
    Key::new(chat_pk(account_id, chat_id), "PANEL")
}

/// Visitors are found by their identifier in the integrator's system, hashed: it may be long, and personal.
pub(in crate::store) fn visitor_key(channel_id: &str, external_id: &str) -> Key {
    Key::new(format!("VISITOR#{channel_id}#{}", crate::runtime::secret::hex_hash(external_id)), "VISITOR")
}

pub(in crate::store) fn number_key(account_id: &str, number: u64) -> Key {
    Key::new(format!("VISITOR_NUMBER#{account_id}#{number}"), "VISITOR")
}

/// The partition of the `listing` index that holds an account's chats in a state.
pub(in crate::store) fn listing_key(account_id: &str, state: &str) -> String {
    format!("{account_id}#{state}")
}

pub(in crate::store) fn chat(item: Item) -> Result<Chat, Error> {
    from_item::<HeadItem>(item)?.try_into()
}

pub(in crate::store) fn entry(item: Item) -> Result<Entry, Error> {
    from_item::<EntryItem>(item)?.try_into()
}

/// None behind the largest number: DynamoDB refuses a range that ends before it begins.
fn entries_after(account_id: &str, chat_id: u64, after: u64, limit: i32) -> Option<Query> {
    (after < LAST_SEQ).then(|| Query {
        index: None,
        condition: "#pk = :chat AND #sk BETWEEN :first AND :last",
        values: vec![
            (":chat", s(chat_pk(account_id, chat_id))),
            (":first", s(format!("{:010}", after + 1))),
            (":last", s(LAST_SEQ.to_string())),
        ],
        limit,
        descending: false,
    })
}

impl Chats {
    /// The chats in that table.
    pub fn new(table: Table) -> Self {
        Self { table, full_windows: Arc::default(), refusals: Arc::default() }
    }

    /// A chat's header. One read.
    pub async fn chat(&self, account_id: &str, chat_id: u64) -> Result<Option<Chat>, Error> {
        self.table.get(head_key(account_id, chat_id)).await?.map(chat).transpose()
    }

    /// A visitor of a channel. One read.
    pub async fn visitor(&self, channel_id: &str, external_id: &str) -> Result<Option<Visitor>, Error> {
        let item = self.table.get(visitor_key(channel_id, external_id)).await?;
        item.map(|item| Ok(from_item::<VisitorItem>(item)?.into())).transpose()
    }

    /// The visitor of that number in an account, unless they are forgotten. Two reads.
    pub async fn visitor_by_number(
        &self,
        account_id: &str,
        number: u64,
        now: Timestamp,
    ) -> Result<Option<Visitor>, Error> {
        let Some(item) = self.table.get(number_key(account_id, number)).await? else { return Ok(None) };
        let NumberItem { visitor_pk, visitor_sk, .. } = from_item(item)?;
        let item = self.table.get(Key::new(visitor_pk, visitor_sk)).await?;
        let visitor: Option<Visitor> = item.map(from_item::<VisitorItem>).transpose()?.map(Visitor::from);
        Ok(visitor.filter(|visitor| !visitor.is_expired(now)))
    }

    /// An entry of a timeline. One read.
    pub async fn entry(&self, account_id: &str, chat_id: u64, seq: u64) -> Result<Option<Entry>, Error> {
        self.table.get(entry_key(account_id, chat_id, seq)).await?.map(entry).transpose()
    }

    /// An entry and the header of its chat, as they are together. Two reads in one request.
    pub async fn entry_and_chat(
        &self,
        account_id: &str,
        chat_id: u64,
        seq: u64,
    ) -> Result<Option<(Entry, Chat)>, Error> {
        let keys = vec![head_key(account_id, chat_id), entry_key(account_id, chat_id, seq)];
        let items = self.table.batch_get(keys).await?;
        let (heads, entries): (Vec<_>, Vec<_>) = items.into_iter().partition(|item| item.contains_key("state"));
        match (entries.into_iter().next(), heads.into_iter().next()) {
            (Some(item), Some(head)) => Ok(Some((entry(item)?, chat(head)?))),
            _ => Ok(None),
        }
    }

    /// The entries after `after`, oldest first: at most `limit`, and less where they are large.
    pub async fn timeline(&self, account_id: &str, chat_id: u64, after: u64, limit: i32) -> Result<Vec<Entry>, Error> {
        let Some(query) = entries_after(account_id, chat_id, after, limit) else { return Ok(Vec::new()) };
        self.table.query(query).await?.into_iter().map(entry).collect()
    }

    /// As [`timeline`](Self::timeline), with the header of the chat. One query, which finds the header behind the last entry;
    /// a read more when the page ends before that.
    pub async fn timeline_and_chat(
        &self,
        account_id: &str,
        chat_id: u64,
        after: u64,
        limit: i32,
    ) -> Result<(Vec<Entry>, Option<Chat>), Error> {
        let first = if after < LAST_SEQ { format!("{:010}", after + 1) } else { HEAD.to_owned() };
        let query = Query {
            index: None,
            condition: "#pk = :chat AND #sk BETWEEN :first AND :head",
            values: vec![(":chat", s(chat_pk(account_id, chat_id))), (":first", s(first)), (":head", s(HEAD))],
            limit: limit.saturating_add(1),
            descending: false,
        };
        let mut items = self.table.query(query).await?;
        let head = match items.pop_if(|item| item.get("sk") == Some(&s(HEAD))) {
            Some(item) => Some(chat(item)?),
            None => self.chat(account_id, chat_id).await?,
        };
        items.truncate(usize::try_from(limit).map_err(Error::internal)?);
        Ok((items.into_iter().map(entry).collect::<Result<_, _>>()?, head))
    }

    /// The first `most` entries, however large they are. A query for each megabyte.
    pub async fn whole_timeline(&self, account_id: &str, chat_id: u64, most: usize) -> Result<Vec<Entry>, Error> {
        let Some(query) = entries_after(account_id, chat_id, 0, MAX_QUERY_ITEMS) else { return Ok(Vec::new()) };
        self.table.query_all(query, most).await?.into_iter().map(entry).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_of_entries_begins_before_it_ends() {
        for (after, expected) in [(0, true), (LAST_SEQ - 1, true), (LAST_SEQ, false), (u64::MAX, false)] {
            assert_eq!(entries_after("acc", 1, after, 1).is_some(), expected, "{after}");
        }
    }
}
