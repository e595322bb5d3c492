//! Erasing a visitor with everything they said and was said to them.

use futures_util::future::try_join_all;

use super::chat_items::{NumberItem, VisitorItem};
use super::chats::{Chats, HEAD, chat_pk, head_key, listing, number_key};
use super::from_item;
use super::table::{Change, Item, Key, Query, Refused, n, s};
use crate::domain::visitor::Visitor;
use crate::error::Error;

/// Entries of the index that are looked through with one request.
const PAGE: i32 = 1_000;
/// Items of a chat that are deleted at once.
const AT_ONCE: i32 = 25;
/// Every state a chat can be listed in.
const STATES: [&str; 4] = ["bot", "waiting", "active", "closed"];

/// What was removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Erased {
    /// Chats.
    pub chats: u64,
    /// Messages and other entries of their timelines, and panels.
    pub entries: u64,
    /// Whether nothing is left; if not, time ran out, and the same call goes on.
    pub is_complete: bool,
}

/// Whether there is time to go on.
type HasTime<'a> = &'a (dyn Fn() -> bool + Sync);

impl Chats {
    /// Erases a visitor: first what new messages would find, then the chats, last the number that leads to all of it. Of a
    /// chat the header goes last, for it leads to the rest. So what was cut short can be done again. The account's chats are
    /// looked through in their index: a read for some forty of them.
    pub async fn erase_visitor(&self, account_id: &str, number: u64, has_time: HasTime<'_>) -> Result<Erased, Error> {
        let item = self.table.get(number_key(account_id, number)).await?.ok_or(Error::NotFound)?;
        let NumberItem { visitor_pk, visitor_sk, .. } = from_item(item)?;
        let visitor = self.table.delete(Key::new(visitor_pk, visitor_sk)).await?;
        let visitor = visitor.map(from_item::<VisitorItem>).transpose()?.map(Visitor::from);
        let mut erased = Erased::default();
        // The index may not list yet what was opened a moment ago.
        if let Some(open_chat) = visitor.and_then(|visitor| visitor.open_chat)
            && !self.erase_chat(account_id, open_chat, has_time, &mut erased).await?
        {
            return Ok(erased);
        }
        for state in STATES {
            if !self.erase_listed(account_id, state, number, has_time, &mut erased).await? {
                return Ok(erased);
            }
        }
        self.table.delete(number_key(account_id, number)).await?;
        erased.is_complete = true;
        Ok(erased)
    }

    /// Erases the visitor's chats in a state. False when time ran out.
    async fn erase_listed(
        &self,
        account_id: &str,
        state: &str,
        number: u64,
        has_time: HasTime<'_>,
        erased: &mut Erased,
    ) -> Result<bool, Error> {
        let mut after = None;
        loop {
            let query = Query {
                index: Some("listing"),
                condition: "#listing = :listing",
                values: vec![(":listing", s(listing(account_id, state))), (":number", n(number))],
                limit: PAGE,
                descending: false,
            };
            let found = self.table.page(query, "#visitor_number = :number", after).await?;
            for chat_id in found.items.iter().filter_map(chat_id) {
                if !self.erase_chat(account_id, chat_id, has_time, erased).await? {
                    return Ok(false);
                }
            }
            match found.next {
                None => return Ok(true),
                Some(_) if !has_time() => return Ok(false),
                next => after = next,
            }
        }
    }

    /// Erases a chat: ends it, so that nothing more is written, removes what it has, then the header. False when time ran
    /// out.
    async fn erase_chat(
        &self,
        account_id: &str,
        chat_id: u64,
        has_time: HasTime<'_>,
        erased: &mut Erased,
    ) -> Result<bool, Error> {
        let end = Change {
            key: head_key(account_id, chat_id),
            update: "SET #state = :closed REMOVE #due, #due_at",
            condition: "attribute_exists(#pk)",
            values: vec![(":closed", s("closed"))],
        };
        match self.table.update(end).await {
            // Erased already; the index lags.
            Err(Refused::Condition { .. }) => return Ok(true),
            ended => drop(ended?),
        }
        loop {
            if !has_time() {
                return Ok(false);
            }
            let query = Query {
                index: None,
                condition: "#pk = :chat",
                values: vec![(":chat", s(chat_pk(account_id, chat_id)))],
                limit: AT_ONCE,
                descending: false,
            };
            let keys = self.table.query(query).await?.iter().filter_map(key).filter(|key| key.sk != HEAD).collect();
            let gone = self.delete_all(keys).await?;
            if gone == 0 {
                break;
            }
            erased.entries += gone;
        }
        self.table.delete(head_key(account_id, chat_id)).await?;
        erased.chats += 1;
        Ok(true)
    }

    async fn delete_all(&self, keys: Vec<Key>) -> Result<u64, Error> {
        Ok(try_join_all(keys.into_iter().map(|key| self.table.delete(key))).await?.len() as u64)
    }
}

fn chat_id(item: &Item) -> Option<u64> {
    item.get("chat_id")?.as_n().ok()?.parse().ok()
}

fn key(item: &Item) -> Option<Key> {
    let text = |name: &str| item.get(name)?.as_s().ok().cloned();
    Some(Key::new(text("pk")?, text("sk")?))
}
