//! Erases a visitor on request (GDPR): the visitor, the visitor's chats with their timelines and panels, the reference
//! to the visitor's last call, and the visitor number.

use std::time::Duration;

use futures_util::future::try_join_all;
use serde::Deserialize;

use crate::chats::calls::has_reserved_minutes;
use crate::domain::chat_state::ChatState;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::due_index::{closed_chat_values, set_closed_chat};
use crate::store::chats::items::VisitorNumberItem;
use crate::store::chats::{
    Chats, HEADER_SORT_KEY, chat_from_item, chat_pk, erased_chat_key, header_key, item_chat_id, listing_key,
    visitor_from_item, visitor_key, visitor_number_key,
};
use crate::store::table::{ITEM_EXISTS, ItemUpdate, Key, Query, WriteResult, item_key, n, s};
use crate::store::{from_item, to_attribute};

const INDEX_PAGE_ITEMS: i32 = 1_000;
const MAX_CONCURRENT_DELETES: i32 = 25;
/// An upper limit for the duration of a request. An erasure is recorded with the latest time at which its request can
/// end, so that the recorded time is not earlier than the erasure itself.
const MAX_REQUEST_DURATION: Duration = Duration::from_secs(30);
/// How long the record of an erased chat is kept. It must be kept for longer than a cursor of `GET /agent/changes` is
/// valid.
const ERASED_CHAT_TTL: Duration = Duration::from_secs(2 * 24 * 60 * 60);

/// The attribute that marks the header of a chat whose erasure has started. Expressions contain it as `#erasing`.
pub(crate) const ERASING: &str = "erasing";

/// What one request has erased. Earlier requests of the same erasure are not included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ErasureReport {
    pub chats: u64,
    /// The number of deleted timeline entries and panels.
    pub entries: u64,
    /// False if the time ran out. To continue the erasure, call the function again for the same visitor number.
    pub is_complete: bool,
}

/// A function that returns false when the time budget of the request is used up.
type HasTime<'a> = &'a (dyn Fn() -> bool + Sync);

struct Erasure<'a> {
    account_id: &'a str,
    number: u64,
    /// The latest time at which the request can end; see [`MAX_REQUEST_DURATION`].
    erased_at: Timestamp,
    has_time: HasTime<'a>,
    erased: ErasureReport,
    /// Whether the visitor's item no longer has to be deleted, because it has been deleted or now belongs to another
    /// visitor.
    is_visitor_handled: bool,
}

/// How far an erasure has progressed through the `listing` index. All chats in the states before `state_index` have
/// been processed, and so have all chats up to `chat_id` in the state at `state_index`.
#[derive(Deserialize, Clone, Copy, Debug, Default)]
struct ErasureProgress {
    state_index: usize,
    chat_id: u64,
}

/// The progress has its own item, because the visitor number's item may have expired.
fn progress_key(account_id: &str, number: u64) -> Key {
    Key::new(format!("ERASURE#{account_id}#{number}"), "ERASURE")
}

impl Chats {
    /// Erases a visitor in an order that allows an interrupted erasure to be resumed. The visitor's item is deleted
    /// first, so that a new message creates a new visitor with another number. The chats follow, and the visitor number
    /// is deleted last.
    ///
    /// Fails with [`Error::NotFound`] if there is no data for the visitor number.
    pub async fn erase_visitor(
        &self,
        account_id: &str,
        number: u64,
        now: Timestamp,
        has_time: HasTime<'_>,
    ) -> Result<ErasureReport, Error> {
        let number_item = self.table.get(visitor_number_key(account_id, number)).await?;
        let progress = self.table.get(progress_key(account_id, number)).await?;
        let visitor_exists = number_item.is_some() || progress.is_some();
        let mut progress: ErasureProgress = progress.map(from_item).transpose()?.unwrap_or_default();
        let is_visitor_handled = number_item.is_some();
        let (erased_at, erased) = (now.plus(MAX_REQUEST_DURATION), ErasureReport::default());
        let mut erasure = Erasure { account_id, number, erased_at, has_time, erased, is_visitor_handled };
        if let Some(item) = number_item {
            let VisitorNumberItem { visitor_pk, visitor_sk, .. } = from_item(item)?;
            if !self.erase_visitor_item(&mut erasure, Key::new(visitor_pk, visitor_sk)).await? {
                return Ok(erasure.erased);
            }
        }
        if !self.erase_listed_chats(&mut erasure, &mut progress).await? {
            let update = ItemUpdate {
                key: progress_key(account_id, number),
                update: "SET #state_index = :state_index, #chat_id = :chat",
                condition: "",
                values: vec![(":state_index", n(progress.state_index)), (":chat", n(progress.chat_id))],
            };
            self.table.update(update).await.unconditional()?;
            return Ok(erasure.erased);
        }
        if !visitor_exists && erasure.erased.chats == 0 {
            return Err(Error::NotFound);
        }
        self.table.delete(visitor_number_key(account_id, number)).await?;
        self.table.delete(progress_key(account_id, number)).await?;
        Ok(ErasureReport { is_complete: true, ..erasure.erased })
    }

    /// Erases the visitor's item, the reference to the last call, and the visitor's open chat. The open chat is erased
    /// here because the `listing` index is updated with a delay and may not contain the chat yet. Returns false if the
    /// time ran out.
    async fn erase_visitor_item(&self, erasure: &mut Erasure<'_>, key: Key) -> Result<bool, Error> {
        erasure.is_visitor_handled = true;
        let is_same_visitor = "#number = :number";
        let visitor = self.table.delete_if(key, is_same_visitor, vec![(":number", n(erasure.number))]).await?;
        let visitor = visitor.map(visitor_from_item).transpose()?;
        if let Some(visitor) = &visitor {
            self.forget_last_call(&visitor.channel_id, &visitor.external_id).await?;
        }
        match visitor.and_then(|visitor| visitor.open_chat) {
            Some(open_chat) => Box::pin(self.erase_chat(erasure, open_chat)).await,
            None => Ok(true),
        }
    }

    /// Erases the visitor's chats that the `listing` index contains, starting at `progress`. If the time runs out,
    /// returns false, and `progress` then tells where to continue.
    async fn erase_listed_chats(
        &self,
        erasure: &mut Erasure<'_>,
        progress: &mut ErasureProgress,
    ) -> Result<bool, Error> {
        while let Some(state) = ChatState::NAMES.get(progress.state_index) {
            let query = Query {
                index: Some("listing"),
                condition: "#listing = :listing AND #chat_id > :after",
                values: vec![
                    (":listing", s(listing_key(erasure.account_id, state))),
                    (":after", n(progress.chat_id)),
                    (":number", n(erasure.number)),
                ],
                limit: INDEX_PAGE_ITEMS,
                descending: false,
            };
            let found = self.table.query_page(query, "#visitor_number = :number", None).await?;
            for chat_id in found.items.iter().filter_map(item_chat_id) {
                if !self.erase_chat(erasure, chat_id).await? {
                    return Ok(false);
                }
                progress.chat_id = chat_id;
            }
            *progress = match found.next.as_ref().and_then(item_chat_id) {
                Some(chat_id) => ErasureProgress { chat_id, ..*progress },
                None => ErasureProgress { state_index: progress.state_index + 1, chat_id: 0 },
            };
            if found.next.is_some() && !(erasure.has_time)() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Erases a chat. First, the chat is closed and marked, so that no messages or notes are added: messages require
    /// an open chat, and private notes require a chat without the mark. Then its items are deleted, and the erasure is
    /// recorded in the `due` index, where `GET /agent/changes` finds it. The header is deleted last, because an
    /// interrupted erasure finds the other items through the header. Returns false if the time ran out.
    async fn erase_chat(&self, erasure: &mut Erasure<'_>, chat_id: u64) -> Result<bool, Error> {
        let header = header_key(erasure.account_id, chat_id);
        let mut close = ItemUpdate {
            key: header.clone(),
            update: concat!(
                "SET #state = :closed, #erasing = :true, ",
                set_closed_chat!(),
                " REMOVE #waiting_since ADD #version :one"
            ),
            condition: ITEM_EXISTS,
            values: vec![
                (":closed", s(ChatState::Closed(None).name())),
                (":true", to_attribute(&true)?),
                (":one", n(1)),
            ],
        };
        close.values.extend(closed_chat_values(erasure.account_id, erasure.erased_at));
        let Ok(closed) = self.table.update(close).await.condition()? else {
            // The chat has already been erased, but the `listing` index still contains it.
            return Ok(true);
        };
        let closed = chat_from_item(closed)?;
        if !erasure.is_visitor_handled {
            let visitor = visitor_key(&closed.channel_id, &closed.external_id);
            if !self.erase_visitor_item(erasure, visitor).await? {
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
                limit: MAX_CONCURRENT_DELETES,
                descending: false,
            };
            let found = self.table.query(query).await?;
            let mut deleted = 0;
            for item in &found {
                deleted += u64::from(self.delete_reserved_call(erasure.account_id, item).await?);
            }
            let (reserved, others): (Vec<_>, Vec<_>) = found.iter().partition(|item| has_reserved_minutes(item));
            let keys = others.into_iter().filter_map(item_key).filter(|key| key.sk != HEADER_SORT_KEY).collect();
            deleted += self.delete_all(keys).await?;
            if deleted == 0 && reserved.is_empty() {
                break;
            }
            erasure.erased.entries += deleted;
        }
        self.record_erased_chat(erasure, chat_id).await?;
        // If this is the visitor's open chat, `erase_visitor_item` has already deleted the header and counted the chat.
        if self.table.delete(header).await?.is_some() {
            erasure.erased.chats += 1;
        }
        Ok(true)
    }

    /// Stores the record of an erased chat. Consoles that still show the chat learn of its erasure from this record.
    async fn record_erased_chat(&self, erasure: &Erasure<'_>, chat_id: u64) -> Result<(), Error> {
        let mut update = ItemUpdate {
            key: erased_chat_key(erasure.account_id, chat_id),
            update: concat!("SET #expires_at = :expires_at, ", set_closed_chat!()),
            condition: "",
            values: vec![(":expires_at", n(erasure.erased_at.plus(ERASED_CHAT_TTL).seconds()))],
        };
        update.values.extend(closed_chat_values(erasure.account_id, erasure.erased_at));
        self.table.update(update).await.unconditional().map(|_| ())
    }

    async fn delete_all(&self, keys: Vec<Key>) -> Result<u64, Error> {
        Ok(try_join_all(keys.into_iter().map(|key| self.table.delete(key))).await?.len() as u64)
    }
}
