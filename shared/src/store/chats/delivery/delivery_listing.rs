//! Reads the delivery log page by page. Failed deliveries are in the `due` index, because admins ask for them most
//! often. All other deliveries are found by reading the chats' timelines, so that the log needs index writes only for
//! failures.

use std::collections::{BTreeSet, HashMap};

use crate::domain::chats::chat::Chat;
use crate::domain::chats::chat_state::ChatState;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::deliveries::delivery_search_and_replay::{DeliveryCursor, DeliveryFilter, SortOrder};
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::delivery::due_index::failed_partition;
use crate::store::chats::listing::chat_listing::{ChatPage, MAX_HEADERS_PER_READ};
use crate::store::chats::status_watches::{ACCOUNT_EVENTS, account_events_header};
use crate::store::chats::{
    CHAT_ID_UPPER_BOUND, Chats, MAX_SEQ, chat_from_item, entry_from_item, entry_key, header_key, item_due_at, item_key,
    split_headers, timeline_query,
};
use crate::store::table::{Item, Key, Query, n, s};

/// Fifty failures and the headers of their chats fit into one batch of 100 reads.
const MAX_FAILURES_PER_QUERY: i32 = 50;
const MAX_FAILURE_QUERIES: usize = 10;
const MAX_ENTRIES_PER_QUERY: i32 = 100;
const MAX_TIMELINE_QUERIES: usize = 50;
/// The maximum number of batches of up to 100 chat headers that one request reads.
const MAX_CHAT_BATCHES: usize = 5;

#[derive(Debug, Default)]
pub struct DeliveryPage {
    pub rows: Vec<(Chat, TimelineEntry)>,
    /// The next page starts after this position. `None` means that this is the last page. A page can have fewer rows
    /// than the limit, because each request can make only a limited number of reads.
    pub next: Option<DeliveryCursor>,
}

#[derive(Clone, Copy)]
pub struct DeliveryQuery<'a> {
    pub account_id: &'a str,
    pub filter: &'a DeliveryFilter,
    pub order: SortOrder,
    /// The position where the previous page ended, or `None` for the first page.
    pub after: Option<DeliveryCursor>,
    pub limit: usize,
    pub now: Timestamp,
}

impl Chats {
    /// Reads a page of an account's failed deliveries, ordered by the time of their entries.
    pub async fn failures(&self, request: DeliveryQuery<'_>) -> Result<DeliveryPage, Error> {
        let mut page = DeliveryPage::default();
        let mut after = request.after;
        for _ in 0..MAX_FAILURE_QUERIES {
            let (cursors, has_more) = self.failed_cursors(&request, after).await?;
            let last = cursors.last().copied();
            let mut found = self.entries_at(request.account_id, &cursors).await?;
            for cursor in cursors {
                let row = found.remove(&(cursor.chat_id, cursor.seq));
                page.rows.extend(row.filter(|(chat, entry)| request.matches(chat, entry)));
                if page.rows.len() >= request.limit {
                    page.next = (has_more || last != Some(cursor)).then_some(cursor);
                    return Ok(page);
                }
            }
            after = last.or(after);
            if !has_more {
                return Ok(page);
            }
        }
        page.next = after;
        Ok(page)
    }

    /// Reads the positions of up to 50 failures after the position `after`. Also returns whether there are more
    /// failures.
    async fn failed_cursors(
        &self,
        request: &DeliveryQuery<'_>,
        after: Option<DeliveryCursor>,
    ) -> Result<(Vec<DeliveryCursor>, bool), Error> {
        let DeliveryFilter { from, to, .. } = request.filter;
        let query = Query {
            index: Some("due"),
            condition: "#due = :failed AND #due_at BETWEEN :from AND :to",
            values: vec![(":failed", s(failed_partition(request.account_id))), (":from", n(from.0)), (":to", n(to.0))],
            limit: MAX_FAILURES_PER_QUERY,
            descending: request.order == SortOrder::NewestFirst,
        };
        let after = after.map(|cursor| request.failed_index_key(cursor)).transpose()?;
        let found = self.table.query_page(query, "", after).await?;
        Ok((found.items.iter().filter_map(failed_cursor).collect(), found.next.is_some()))
    }

    /// Reads the entries at up to 50 cursors, together with their chats. The keys of the returned map consist of a chat
    /// number and an entry number.
    pub async fn entries_at(
        &self,
        account_id: &str,
        cursors: &[DeliveryCursor],
    ) -> Result<HashMap<(u64, u64), (Chat, TimelineEntry)>, Error> {
        let chat_ids: BTreeSet<u64> = cursors.iter().map(|cursor| cursor.chat_id).collect();
        let header_keys = chat_ids.into_iter().map(|chat_id| header_key(account_id, chat_id));
        let entry_keys = cursors.iter().map(|cursor| entry_key(account_id, cursor.chat_id, cursor.seq));
        let (headers, entries) = split_headers(self.table.batch_get(header_keys.chain(entry_keys).collect()).await?);
        let chats = headers.into_iter().map(|item| chat_from_item(item).map(|chat| (chat.chat_id, chat)));
        let mut chats: HashMap<u64, Chat> = chats.collect::<Result<_, _>>()?;
        chats.insert(ACCOUNT_EVENTS, account_events_header(account_id));
        let mut found = HashMap::new();
        for item in entries {
            let entry = entry_from_item(item)?;
            if let Some(chat) = chats.get(&entry.chat_id) {
                found.insert((entry.chat_id, entry.seq), (chat.clone(), entry));
            }
        }
        Ok(found)
    }

    /// Reads a page of the deliveries in one chat.
    pub async fn chat_deliveries(&self, chat: &Chat, request: DeliveryQuery<'_>) -> Result<DeliveryPage, Error> {
        let after_seq = match request.timeline_cursor()? {
            Some(cursor) if cursor.chat_id != chat.chat_id => return Err(cursor_mismatch()),
            cursor => cursor.map_or(0, |cursor| cursor.seq),
        };
        let mut scan = TimelineScan::new(request);
        self.scan_chat(&mut scan, chat, after_seq).await?;
        Ok(scan.page)
    }

    /// Reads a page of the deliveries in all of an account's chats. The newest chat comes first; within a chat, the
    /// entries are in the order of the request.
    pub async fn deliveries(&self, request: DeliveryQuery<'_>) -> Result<DeliveryPage, Error> {
        let after = request.timeline_cursor()?;
        let mut scan = TimelineScan::new(request);
        let mut before = after.map_or(CHAT_ID_UPPER_BOUND, |cursor| cursor.chat_id.saturating_add(1));
        for _ in 0..MAX_CHAT_BATCHES {
            let mut listing = self.listing(request.account_id, &ChatState::NAMES, Some(before));
            let ChatPage { chats, next } = listing.next(MAX_HEADERS_PER_READ).await?;
            for chat in chats {
                let after_seq = after.filter(|cursor| cursor.chat_id == chat.chat_id).map_or(0, |cursor| cursor.seq);
                self.scan_chat(&mut scan, &chat, after_seq).await?;
                if scan.page.next.is_some() {
                    return Ok(scan.page);
                }
            }
            let Some(next) = next else { return Ok(scan.page) };
            before = next;
        }
        scan.page.next = Some(DeliveryCursor { at: None, chat_id: before, seq: 1 });
        Ok(scan.page)
    }

    /// Adds the matching deliveries of a chat to the page, in the order of the request. The scan starts after the entry
    /// `after_seq`, or with the first entry if `after_seq` is 0. If the page is full or the request has used all of its
    /// queries, sets the page's `next`.
    async fn scan_chat(&self, scan: &mut TimelineScan<'_>, chat: &Chat, mut after_seq: u64) -> Result<(), Error> {
        if !scan.request.filter.may_match_chat(chat) {
            return Ok(());
        }
        loop {
            let cursor = DeliveryCursor { at: None, chat_id: chat.chat_id, seq: after_seq };
            if scan.queries_left == 0 {
                scan.page.next = Some(cursor);
                return Ok(());
            }
            scan.queries_left -= 1;
            let (entries, has_more) = self.timeline_slice(chat, after_seq, scan.request.order).await?;
            for entry in entries {
                after_seq = entry.seq;
                if scan.request.matches(chat, &entry) {
                    scan.page.rows.push((chat.clone(), entry));
                }
                if scan.page.rows.len() >= scan.request.limit {
                    scan.page.next = Some(DeliveryCursor { seq: after_seq, ..cursor });
                    return Ok(());
                }
            }
            if !has_more {
                return Ok(());
            }
        }
    }

    /// Reads at most 100 entries that follow `after_seq` in the given order, starting with the first entry if
    /// `after_seq` is 0. Also returns whether there are more entries.
    async fn timeline_slice(
        &self,
        chat: &Chat,
        after_seq: u64,
        order: SortOrder,
    ) -> Result<(Vec<TimelineEntry>, bool), Error> {
        let seqs = match (order, after_seq) {
            (SortOrder::NewestFirst, 0) => 1..=MAX_SEQ,
            (SortOrder::NewestFirst, after_seq) => 1..=after_seq - 1,
            (SortOrder::OldestFirst, after_seq) => after_seq.saturating_add(1)..=MAX_SEQ,
        };
        let Some(query) = timeline_query(&chat.account_id, chat.chat_id, seqs, MAX_ENTRIES_PER_QUERY) else {
            return Ok((Vec::new(), false));
        };
        let query = Query { descending: order == SortOrder::NewestFirst, ..query };
        let found = self.table.query_page(query, "", None).await?;
        let entries = found.items.into_iter().map(entry_from_item).collect::<Result<_, _>>()?;
        Ok((entries, found.next.is_some()))
    }
}

struct TimelineScan<'a> {
    request: DeliveryQuery<'a>,
    queries_left: usize,
    page: DeliveryPage,
}

impl<'a> TimelineScan<'a> {
    fn new(request: DeliveryQuery<'a>) -> Self {
        Self { request, queries_left: MAX_TIMELINE_QUERIES, page: DeliveryPage::default() }
    }
}

impl DeliveryQuery<'_> {
    fn matches(&self, chat: &Chat, entry: &TimelineEntry) -> bool {
        self.filter.matches(chat, entry, self.now)
    }

    /// Returns the request's cursor. Fails if the cursor belongs to a page of failures rather than to a search through
    /// timelines.
    fn timeline_cursor(&self) -> Result<Option<DeliveryCursor>, Error> {
        match self.after {
            Some(DeliveryCursor { at: Some(_), .. }) => Err(cursor_mismatch()),
            after => Ok(after),
        }
    }

    /// Returns the index key of the failure at the cursor. Fails if the cursor has no time, or a time outside the
    /// requested range.
    fn failed_index_key(&self, cursor: DeliveryCursor) -> Result<Item, Error> {
        let at = cursor.at.filter(|at| (self.filter.from..=self.filter.to).contains(at)).ok_or_else(cursor_mismatch)?;
        let mut key = entry_key(self.account_id, cursor.chat_id, cursor.seq).into_item();
        key.insert("due".to_owned(), s(failed_partition(self.account_id)));
        key.insert("due_at".to_owned(), n(at.0));
        Ok(key)
    }
}

fn cursor_mismatch() -> Error {
    Error::field("cursor", "belongs to a different query")
}

fn failed_cursor(item: &Item) -> Option<DeliveryCursor> {
    entry_position(&item_key(item)?, item_due_at(item)?)
}

/// Returns the position of an entry in the index `due`.
pub(super) fn entry_position(key: &Key, due_at: Timestamp) -> Option<DeliveryCursor> {
    let chat_id = key.pk.rsplit('#').next()?.parse().ok()?;
    Some(DeliveryCursor { at: Some(due_at), chat_id, seq: key.sk.parse().ok()? })
}
