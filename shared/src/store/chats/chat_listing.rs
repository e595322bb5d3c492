//! Lists of an account's chats, newest first, over several states. The index has the numbers; headers are read by these, as
//! many as are asked for.

use std::collections::VecDeque;

use futures_util::future::try_join_all;

use crate::domain::chat::Chat;
use crate::error::Error;
use crate::store::chats::{ABOVE_ALL, Chats, chat, head_key, listing_key};
use crate::store::table::{Item, Query, n, s};

/// Headers that one request to the table reads.
pub const MAX_HEADERS_PER_READ: usize = 100;

/// A part of an account's chats.
#[derive(Debug)]
pub struct Listed {
    /// The chats, newest first.
    pub chats: Vec<Chat>,
    /// Chats with smaller numbers follow; none: there are no more.
    pub next: Option<u64>,
}

/// An account's chats in some states, merged by number, read as they are asked for.
pub struct Listing<'a> {
    chats: &'a Chats,
    account_id: &'a str,
    states: Vec<Cursor>,
}

/// How far the chats in one state are read.
struct Cursor {
    state: &'static str,
    /// Numbers that the index brought and nobody has taken, largest first.
    ahead: VecDeque<u64>,
    /// The index has smaller ones than this; none: no more.
    before: Option<u64>,
}

impl Chats {
    /// The account's chats in these states with numbers below `before`. Reads nothing yet.
    pub fn listing<'a>(&'a self, account_id: &'a str, states: &[&'static str], before: Option<u64>) -> Listing<'a> {
        let before = Some(before.unwrap_or(ABOVE_ALL));
        let cursor = |state: &&'static str| Cursor { state, ahead: VecDeque::new(), before };
        Listing { chats: self, account_id, states: states.iter().map(cursor).collect() }
    }
}

impl Listing<'_> {
    /// The next chats, from `count` headers, at most [`MAX_HEADERS_PER_READ`]. A query for each state that may have more than
    /// the index brought so far, all at once, and a read for each header. The index lags by moments: a chat that has left
    /// these states is left out, one that changed between them is there once.
    pub async fn next(&mut self, count: usize) -> Result<Listed, Error> {
        let count = count.min(MAX_HEADERS_PER_READ);
        let (chats, account_id) = (self.chats, self.account_id);
        // One more than may be taken of it: then it is known whether there are more.
        try_join_all(self.states.iter_mut().map(|cursor| cursor.fill(chats, account_id, count + 1))).await?;
        let mut ids = Vec::with_capacity(count);
        while ids.len() < count
            && let Some(id) = self.newest()
        {
            self.states.iter_mut().for_each(|cursor| cursor.take(id));
            ids.push(id);
        }
        let next = ids.last().copied().filter(|_| self.newest().is_some());
        let items = chats.table.batch_get(ids.into_iter().map(|id| head_key(account_id, id)).collect()).await?;
        let mut found: Vec<Chat> = items.into_iter().map(chat).collect::<Result<_, _>>()?;
        found.retain(|chat| self.states.iter().any(|cursor| cursor.state == chat.state.name()));
        found.sort_by_key(|chat| std::cmp::Reverse(chat.chat_id));
        Ok(Listed { chats: found, next })
    }

    fn newest(&self) -> Option<u64> {
        self.states.iter().filter_map(|cursor| cursor.ahead.front()).max().copied()
    }
}

impl Cursor {
    /// Reads ahead until that many numbers are there, or all.
    async fn fill(&mut self, chats: &Chats, account_id: &str, count: usize) -> Result<(), Error> {
        let missing = count.saturating_sub(self.ahead.len());
        let Some(before) = self.before.filter(|_| missing > 0) else { return Ok(()) };
        let limit = i32::try_from(missing).map_err(Error::internal)?;
        let query = Query {
            index: Some("listing"),
            condition: "#listing = :listing AND #chat_id < :before",
            values: vec![(":listing", s(listing_key(account_id, self.state))), (":before", n(before))],
            limit,
            descending: true,
        };
        let found: Vec<u64> = chats.table.query(query).await?.iter().filter_map(chat_id).collect();
        self.before = found.last().copied().filter(|_| found.len() == missing);
        self.ahead.extend(found);
        Ok(())
    }

    fn take(&mut self, id: u64) {
        if self.ahead.front() == Some(&id) {
            self.ahead.pop_front();
        }
    }
}

fn chat_id(item: &Item) -> Option<u64> {
    item.get("chat_id")?.as_n().ok()?.parse().ok()
}
