//! The ledger of deliveries, page by page. What failed is in an index, because that is what admins ask for; the rest
//! is looked for chat by chat, so that only failures cost anything before somebody asks.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::domain::chat::Chat;
use crate::domain::delivery_log::{Order, Place, Wanted};
use crate::domain::entry::Entry;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::deliveries::failed;
use crate::store::chats::listing::{Listed, MAX_HEADERS_PER_READ};
use crate::store::chats::{ABOVE_ALL, Chats, LAST_SEQ, chat, chat_pk, entry, entry_key, head_key};
use crate::store::table::{Item, Query, n, s};

/// Failures read at once: with the header of each one's chat they are the 100 that one batch takes.
const MAX_FAILURES_PER_QUERY: i32 = 50;
/// Batches of failures one request may look through.
const MAX_BATCHES_PER_REQUEST: usize = 10;
/// Entries of a timeline read at once.
const MAX_ENTRIES_PER_QUERY: i32 = 100;
/// Times that one request may do so.
const MAX_TIMELINE_QUERIES: usize = 50;
/// Times that one request may read a batch of chats.
const MAX_CHAT_BATCHES: usize = 5;
/// The states that chats are listed under.
const STATES: [&str; 4] = ["bot", "waiting", "active", "closed"];

/// A page of the ledger.
#[derive(Debug, Default)]
pub struct Page {
    /// Deliveries, each with its chat.
    pub rows: Vec<(Chat, Entry)>,
    /// Where to go on; none at the end. A page may end before it is full, when it had much to look through.
    pub next: Option<Place>,
}

/// A request for a page.
#[derive(Clone, Copy)]
pub struct Search<'a> {
    /// The account.
    pub account_id: &'a str,
    /// Which deliveries.
    pub wanted: &'a Wanted,
    /// Which way.
    pub order: Order,
    /// Where the page before ended.
    pub after: Option<Place>,
    /// The most rows.
    pub limit: usize,
    /// Now.
    pub now: Timestamp,
}

impl Chats {
    /// What failed in an account, by the time at which it was made. For each 50 failures that it looks through a query
    /// of 50 keys and a batch of at most 100 reads.
    pub async fn failures(&self, search: Search<'_>) -> Result<Page, Error> {
        let mut page = Page::default();
        let mut after = search.after;
        for _ in 0..MAX_BATCHES_PER_REQUEST {
            let (places, has_more) = self.failed_places(&search, after).await?;
            let last = places.last().copied();
            let mut found = self.entries_at(search.account_id, &places).await?;
            for place in places {
                let taken = found.remove(&(place.chat_id, place.seq)).filter(|(chat, entry)| search.takes(chat, entry));
                page.rows.extend(taken);
                if page.rows.len() >= search.limit {
                    page.next = (has_more || last != Some(place)).then_some(place);
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

    async fn failed_places(&self, search: &Search<'_>, after: Option<Place>) -> Result<(Vec<Place>, bool), Error> {
        let Wanted { from, to, .. } = search.wanted;
        let query = Query {
            index: Some("due"),
            condition: "#due = :failed AND #due_at BETWEEN :from AND :to",
            values: vec![(":failed", s(failed(search.account_id))), (":from", n(from.0)), (":to", n(to.0))],
            limit: MAX_FAILURES_PER_QUERY,
            descending: search.order == Order::NewestFirst,
        };
        let after = after.map(|place| search.failed_key(place)).transpose()?;
        let found = self.table.page(query, "", after).await?;
        Ok((found.items.iter().filter_map(failed_place).collect(), found.next.is_some()))
    }

    /// The entries at those places, at most 50, with their chats.
    async fn entries_at(
        &self,
        account_id: &str,
        places: &[Place],
    ) -> Result<HashMap<(u64, u64), (Chat, Entry)>, Error> {
        let chats: BTreeSet<u64> = places.iter().map(|place| place.chat_id).collect();
        let heads = chats.into_iter().map(|chat_id| head_key(account_id, chat_id));
        let entries = places.iter().map(|place| entry_key(account_id, place.chat_id, place.seq));
        let items = self.table.batch_get(heads.chain(entries).collect()).await?;
        let (heads, entries): (Vec<_>, Vec<_>) = items.into_iter().partition(|item| item.contains_key("state"));
        let heads = heads.into_iter().map(chat).map(|chat| chat.map(|chat| (chat.chat_id, chat)));
        let heads: HashMap<u64, Chat> = heads.collect::<Result<_, _>>()?;
        let mut found = HashMap::new();
        for item in entries {
            let entry = entry(item)?;
            if let Some(chat) = heads.get(&entry.chat_id) {
                found.insert((entry.chat_id, entry.seq), (chat.clone(), entry));
            }
        }
        Ok(found)
    }

    /// The deliveries of one chat. A query for each 100 entries that it looks through.
    pub async fn chat_deliveries(&self, chat: &Chat, search: Search<'_>) -> Result<Page, Error> {
        let passed = match search.passed()? {
            Some(place) if place.chat_id != chat.chat_id => return Err(other_question()),
            place => place.map_or(0, |place| place.seq),
        };
        let mut walk = Walk { search, looks: MAX_TIMELINE_QUERIES, page: Page::default() };
        self.walk_chat(&mut walk, chat, passed).await?;
        Ok(walk.page)
    }

    /// The deliveries of an account's chats, newest chat first, and in each the newest entry. For each 100 chats four
    /// queries of keys and a batch of 100 reads, for each 100 entries of those that may have one a query.
    pub async fn deliveries(&self, search: Search<'_>) -> Result<Page, Error> {
        let passed = search.passed()?;
        let mut walk = Walk { search, looks: MAX_TIMELINE_QUERIES, page: Page::default() };
        let mut before = passed.map_or(ABOVE_ALL, |place| place.chat_id.saturating_add(1));
        for _ in 0..MAX_CHAT_BATCHES {
            let (chats, last) = self.newest_chats(walk.search.account_id, before).await?;
            for (chat_id, chat) in chats.into_iter().rev() {
                let seq = passed.filter(|place| place.chat_id == chat_id).map_or(0, |place| place.seq);
                self.walk_chat(&mut walk, &chat, seq).await?;
                if walk.page.next.is_some() {
                    return Ok(walk.page);
                }
            }
            let Some(last) = last else { return Ok(walk.page) };
            before = last;
        }
        walk.page.next = Some(Place { at: None, chat_id: before, seq: 1 });
        Ok(walk.page)
    }

    /// Looks through a chat for what is wanted, behind an entry. Where it has to stop, the page says where.
    async fn walk_chat(&self, walk: &mut Walk<'_>, chat: &Chat, mut passed: u64) -> Result<(), Error> {
        if !walk.search.wanted.may_be_in(chat) {
            return Ok(());
        }
        loop {
            let place = Place { at: None, chat_id: chat.chat_id, seq: passed };
            if walk.looks == 0 {
                walk.page.next = Some(place);
                return Ok(());
            }
            walk.looks -= 1;
            let (entries, has_more) = self.slice(chat, passed, walk.search.order).await?;
            for entry in entries {
                passed = entry.seq;
                if walk.search.takes(chat, &entry) {
                    walk.page.rows.push((chat.clone(), entry));
                }
                if walk.page.rows.len() >= walk.search.limit {
                    walk.page.next = Some(Place { seq: passed, ..place });
                    return Ok(());
                }
            }
            if !has_more {
                return Ok(());
            }
        }
    }

    /// A part of a timeline behind that entry; 0 is before all others.
    async fn slice(&self, chat: &Chat, passed: u64, order: Order) -> Result<(Vec<Entry>, bool), Error> {
        let (first, last) = match (order, passed) {
            (Order::NewestFirst, 0) => (1, LAST_SEQ),
            (Order::NewestFirst, passed) => (1, passed - 1),
            (Order::OldestFirst, passed) => (passed.saturating_add(1), LAST_SEQ),
        };
        if first > last || last > LAST_SEQ {
            return Ok((Vec::new(), false));
        }
        let query = Query {
            index: None,
            condition: "#pk = :chat AND #sk BETWEEN :first AND :last",
            values: vec![
                (":chat", s(chat_pk(&chat.account_id, chat.chat_id))),
                (":first", s(format!("{first:010}"))),
                (":last", s(format!("{last:010}"))),
            ],
            limit: MAX_ENTRIES_PER_QUERY,
            descending: order == Order::NewestFirst,
        };
        let found = self.table.page(query, "", None).await?;
        let entries = found.items.into_iter().map(entry).collect::<Result<_, _>>()?;
        Ok((entries, found.next.is_some()))
    }

    /// The hundred chats with the largest numbers below `before`; where there are more, also the last number.
    async fn newest_chats(&self, account_id: &str, before: u64) -> Result<(BTreeMap<u64, Chat>, Option<u64>), Error> {
        let Listed { chats, next } = self.listing(account_id, &STATES, Some(before)).next(MAX_HEADERS_PER_READ).await?;
        Ok((chats.into_iter().map(|chat| (chat.chat_id, chat)).collect(), next))
    }
}

/// A walk through timelines: what it looks for, how often it may still look, what it found.
struct Walk<'a> {
    search: Search<'a>,
    looks: usize,
    page: Page,
}

impl Search<'_> {
    fn takes(&self, chat: &Chat, entry: &Entry) -> bool {
        self.wanted.takes(chat, entry, self.now)
    }

    /// The place of a walk through chats.
    fn passed(&self) -> Result<Option<Place>, Error> {
        match self.after {
            Some(Place { at: Some(_), .. }) => Err(other_question()),
            passed => Ok(passed),
        }
    }

    /// The whole key of a place among the failures. One outside of the time that is asked for is none.
    fn failed_key(&self, place: Place) -> Result<Item, Error> {
        let at = place.at.filter(|at| (self.wanted.from..=self.wanted.to).contains(at)).ok_or_else(other_question)?;
        let mut key = entry_key(self.account_id, place.chat_id, place.seq).into_item();
        key.insert("due".to_owned(), s(failed(self.account_id)));
        key.insert("due_at".to_owned(), n(at.0));
        Ok(key)
    }
}

fn other_question() -> Error {
    Error::field("cursor", "belongs to another question")
}

/// The place of an item of the index.
fn failed_place(item: &Item) -> Option<Place> {
    let text = |name: &str| item.get(name)?.as_s().ok();
    let at = item.get("due_at")?.as_n().ok()?.parse().ok().map(Timestamp)?;
    let chat_id = text("pk")?.rsplit('#').next()?.parse().ok()?;
    Some(Place { at: Some(at), chat_id, seq: text("sk")?.parse().ok()? })
}
