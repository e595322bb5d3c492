//! Lists an account's chats in one or more states, newest first. The `listing` index does not contain the headers, so
//! each page takes one more batch request to read them.

use std::collections::VecDeque;

use futures_util::future::try_join_all;

use crate::domain::chats::chat::Chat;
use crate::error::Error;
use crate::store::chats::{CHAT_ID_UPPER_BOUND, Chats, item_chat_id, listing_key};
use crate::store::table::{Query, n, s};

/// DynamoDB reads at most this number of items in one batch request.
pub const MAX_HEADERS_PER_READ: usize = 100;

#[derive(Debug)]
pub struct ChatPage {
    /// The newest chat comes first.
    pub chats: Vec<Chat>,
    /// The next page contains chats with numbers below this number. `None` means that this is the last page.
    pub next: Option<u64>,
}

/// An account's chats in several states, read page by page. The `listing` index lists each state separately, so the
/// listing merges the chat numbers of the states.
pub struct ChatListing<'a> {
    chats: &'a Chats,
    account_id: &'a str,
    states: Vec<StateCursor>,
}

struct StateCursor {
    state: &'static str,
    /// The chat numbers that have been read from the index but not returned yet, largest first.
    buffered_ids: VecDeque<u64>,
    /// The next index query reads chat numbers below this number. `None` means that the index has been read to the end.
    before: Option<u64>,
}

impl Chats {
    /// Creates a listing of the account's chats that are in one of `states` and have numbers below `before`. Reads
    /// nothing yet.
    pub fn listing<'a>(&'a self, account_id: &'a str, states: &[&'static str], before: Option<u64>) -> ChatListing<'a> {
        let before = Some(before.unwrap_or(CHAT_ID_UPPER_BOUND));
        let cursor = |state: &&'static str| StateCursor { state, buffered_ids: VecDeque::new(), before };
        ChatListing { chats: self, account_id, states: states.iter().map(cursor).collect() }
    }
}

impl ChatListing<'_> {
    /// Reads the next page of at most `count` chats; `count` is limited to [`MAX_HEADERS_PER_READ`].
    ///
    /// The index is updated with a delay, so a page can contain fewer than `count` chats even if more pages follow. A
    /// chat that has left all states of the listing is omitted; a chat that has moved from one of them to another
    /// appears only once.
    pub async fn next(&mut self, count: usize) -> Result<ChatPage, Error> {
        let mut page = self.next_unfiltered(count).await?;
        page.chats.retain(|chat| self.states.iter().any(|cursor| cursor.state == chat.state.name()));
        Ok(page)
    }

    /// Reads the next page like [`next`](Self::next), and also returns the chats that have left all states of the
    /// listing but are still in the index.
    pub async fn next_unfiltered(&mut self, count: usize) -> Result<ChatPage, Error> {
        let count = count.min(MAX_HEADERS_PER_READ);
        self.read_ahead(count).await?;
        let mut ids = Vec::with_capacity(count);
        while ids.len() < count
            && let Some(id) = self.newest_buffered()
        {
            self.states.iter_mut().for_each(|cursor| cursor.remove_front(id));
            ids.push(id);
        }
        let next = ids.last().copied().filter(|_| self.newest_buffered().is_some());
        Ok(ChatPage { chats: self.chats.chats_by_id(self.account_id, &ids).await?, next })
    }

    /// Reads from the `listing` index the chat numbers that the next page of `count` chats needs. A handler can call
    /// this function while it authenticates the caller.
    pub async fn read_ahead(&mut self, count: usize) -> Result<(), Error> {
        let (chats, account_id, count) = (self.chats, self.account_id, count.min(MAX_HEADERS_PER_READ));
        // Reading one more number than the page needs shows whether there is another page.
        try_join_all(self.states.iter_mut().map(|cursor| cursor.read_ahead(chats, account_id, count + 1))).await?;
        Ok(())
    }

    fn newest_buffered(&self) -> Option<u64> {
        self.states.iter().filter_map(|cursor| cursor.buffered_ids.front()).max().copied()
    }
}

impl StateCursor {
    async fn read_ahead(&mut self, chats: &Chats, account_id: &str, count: usize) -> Result<(), Error> {
        let missing = count.saturating_sub(self.buffered_ids.len());
        let Some(before) = self.before.filter(|_| missing > 0) else { return Ok(()) };
        let limit = i32::try_from(missing).map_err(Error::internal)?;
        let query = Query {
            index: Some("listing"),
            condition: "#listing = :listing AND #chat_id < :before",
            values: vec![(":listing", s(listing_key(account_id, self.state))), (":before", n(before))],
            limit,
            descending: true,
        };
        let found: Vec<u64> = chats.table.query(query).await?.iter().filter_map(item_chat_id).collect();
        self.before = found.last().copied().filter(|_| found.len() == missing);
        self.buffered_ids.extend(found);
        Ok(())
    }

    fn remove_front(&mut self, id: u64) {
        if self.buffered_ids.front() == Some(&id) {
            self.buffered_ids.pop_front();
        }
    }
}
