//! Erasing a visitor with everything they said and was said to them.

use futures_util::future::try_join_all;
use serde::Deserialize;

use crate::domain::visitor::Visitor;
use crate::error::Error;
use crate::store::chats::items::{NumberItem, VisitorItem};
use crate::store::chats::{Chats, HEAD, chat, chat_pk, head_key, listing_key, number_key, visitor_key};
use crate::store::from_item;
use crate::store::table::{EXISTS, Item, ItemUpdate, Key, Query, Refused, n, s};

/// Entries of the index that are looked through with one request.
const PAGE_ITEMS: i32 = 1_000;
/// Items of a chat that are deleted at once.
const MAX_CHATS_PER_PASS: i32 = 25;
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

/// An erasure that is under way.
struct Erasure<'a> {
    account_id: &'a str,
    number: u64,
    has_time: HasTime<'a>,
    erased: Erased,
    /// Whether the visitor's own item has been seen to.
    is_visitor_gone: bool,
}

/// How far an erasure has looked through the index: everything in the states before this one, and in it everything up to
/// this chat.
#[derive(Deserialize, Clone, Copy, Debug, Default)]
struct ErasureProgress {
    states: usize,
    chat_id: u64,
}

/// How far an erasure that was cut short has come. An item of its own: the number may be gone.
fn progress_key(account_id: &str, number: u64) -> Key {
    Key::new(format!("ERASURE#{account_id}#{number}"), "ERASURE")
}

impl Chats {
    /// Erases a visitor: first what new messages would find, then the chats, last the number that leads to all of it. Of a
    /// chat the header goes last, for it leads to the rest. So what was cut short can be done again; it goes on where it
    /// was. The account's chats are looked through in their index: a read for some forty of them. Who comes again
    /// meanwhile has another number, and stays.
    pub async fn erase_visitor(&self, account_id: &str, number: u64, has_time: HasTime<'_>) -> Result<Erased, Error> {
        let leading = self.table.get(number_key(account_id, number)).await?;
        let progress = self.table.get(progress_key(account_id, number)).await?;
        let is_known = leading.is_some() || progress.is_some();
        let mut progress: ErasureProgress = progress.map(from_item).transpose()?.unwrap_or_default();
        let is_visitor_gone = leading.is_some();
        let mut erasure = Erasure { account_id, number, has_time, erased: Erased::default(), is_visitor_gone };
        if let Some(item) = leading {
            let NumberItem { visitor_pk, visitor_sk, .. } = from_item(item)?;
            if !self.erase_themselves(&mut erasure, Key::new(visitor_pk, visitor_sk)).await? {
                return Ok(erasure.erased);
            }
        }
        if !self.erase_listed(&mut erasure, &mut progress).await? {
            let item = ItemUpdate {
                key: progress_key(account_id, number),
                update: "SET #states = :states, #chat_id = :chat",
                condition: "",
                values: vec![(":states", n(progress.states)), (":chat", n(progress.chat_id))],
            };
            self.table.update(item).await?;
            return Ok(erasure.erased);
        }
        if !is_known && erasure.erased.chats == 0 {
            return Err(Error::NotFound);
        }
        self.table.delete(number_key(account_id, number)).await?;
        self.table.delete(progress_key(account_id, number)).await?;
        Ok(Erased { is_complete: true, ..erasure.erased })
    }

    /// Erases what is known of the visitor, and their open chat, which the index may not list yet. False when time ran out.
    async fn erase_themselves(&self, erasure: &mut Erasure<'_>, key: Key) -> Result<bool, Error> {
        erasure.is_visitor_gone = true;
        let is_theirs = "#number = :number";
        let visitor = self.table.delete_if(key, is_theirs, vec![(":number", n(erasure.number))]).await?;
        let visitor = visitor.map(from_item::<VisitorItem>).transpose()?.map(Visitor::from);
        match visitor.and_then(|visitor| visitor.open_chat) {
            Some(open_chat) => Box::pin(self.erase_chat(erasure, open_chat)).await,
            None => Ok(true),
        }
    }

    /// Erases the visitor's chats. False when time ran out; then `progress` says where to go on.
    async fn erase_listed(&self, erasure: &mut Erasure<'_>, progress: &mut ErasureProgress) -> Result<bool, Error> {
        while let Some(state) = STATES.get(progress.states) {
            let query = Query {
                index: Some("listing"),
                condition: "#listing = :listing AND #chat_id > :after",
                values: vec![
                    (":listing", s(listing_key(erasure.account_id, state))),
                    (":after", n(progress.chat_id)),
                    (":number", n(erasure.number)),
                ],
                limit: PAGE_ITEMS,
                descending: false,
            };
            let found = self.table.page(query, "#visitor_number = :number", None).await?;
            for chat_id in found.items.iter().filter_map(chat_id) {
                if !self.erase_chat(erasure, chat_id).await? {
                    return Ok(false);
                }
                progress.chat_id = chat_id;
            }
            *progress = match found.next.as_ref().and_then(chat_id) {
                Some(chat_id) => ErasureProgress { chat_id, ..*progress },
                None => ErasureProgress { states: progress.states + 1, chat_id: 0 },
            };
            if found.next.is_some() && !(erasure.has_time)() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Erases a chat: ends it, so that nothing more is written, removes what it has, then the header. False when time ran
    /// out.
    async fn erase_chat(&self, erasure: &mut Erasure<'_>, chat_id: u64) -> Result<bool, Error> {
        let head = head_key(erasure.account_id, chat_id);
        let end = ItemUpdate {
            key: head.clone(),
            update: "SET #state = :closed REMOVE #due, #due_at ADD #version :one",
            condition: EXISTS,
            values: vec![(":closed", s("closed")), (":one", n(1))],
        };
        let ended = match self.table.update(end).await {
            // Erased already; the index lags.
            Err(Refused::Condition { .. }) => return Ok(true),
            ended => chat(ended?)?,
        };
        if !erasure.is_visitor_gone {
            let visitor = visitor_key(&ended.channel_id, &ended.external_id);
            if !self.erase_themselves(erasure, visitor).await? {
                return Ok(false);
            }
        }
        loop {
            if !(erasure.has_time)() {
                return Ok(false);
            }
            let query = Query {
                index: None,
                condition: "#pk = :chat",
                values: vec![(":chat", s(chat_pk(erasure.account_id, chat_id)))],
                limit: MAX_CHATS_PER_PASS,
                descending: false,
            };
            let keys = self.table.query(query).await?.iter().filter_map(key).filter(|key| key.sk != HEAD).collect();
            let gone = self.delete_all(keys).await?;
            if gone == 0 {
                break;
            }
            erasure.erased.entries += gone;
        }
        // Their open chat may have been this one, and is gone then.
        if self.table.delete(head).await?.is_some() {
            erasure.erased.chats += 1;
        }
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
