//! The reads and writes of a visitor's erasure: its progress, the mark of a chat that is being erased, and the record
//! of an erased chat.

use std::time::Duration;

use futures_util::future::try_join_all;
use serde::Deserialize;

use crate::domain::chats::chat::Chat;
use crate::domain::chats::chat_state::ChatState;
use crate::domain::timestamp::Timestamp;
use crate::domain::visitors::visitor::Visitor;
use crate::error::Error;
use crate::store::chats::calls::call_entry::has_reserved_minutes;
use crate::store::chats::delivery::due_index::{closed_chat_values, set_closed_chat};
use crate::store::chats::items::VisitorNumberItem;
use crate::store::chats::items::content::file_ids;
use crate::store::chats::{
    Chats, HEADER_SORT_KEY, chat_from_item, chat_pk, erased_chat_key, header_key, item_chat_id, listing_key,
    visitor_from_item, visitor_key, visitor_number_key,
};
use crate::store::table::{ITEM_EXISTS, Item, ItemUpdate, Key, Query, WriteResult, item_key, n, s};
use crate::store::{from_item, to_attribute};

const INDEX_PAGE_ITEMS: i32 = 1_000;
const MAX_CONCURRENT_DELETES: i32 = 25;
/// How long the record of an erased chat is kept. It must be kept for longer than a cursor of `GET /agent/changes` is
/// valid.
const ERASED_CHAT_TTL: Duration = Duration::from_secs(2 * 24 * 60 * 60);

/// The attribute that marks the header of a chat whose erasure has started. Expressions contain it as `#erasing`.
pub(crate) const ERASING: &str = "erasing";

/// How far an erasure has progressed through the `listing` index. All chats in the states before `state_index` have
/// been processed, and so have all chats up to `chat_id` in the state at `state_index`.
#[derive(Deserialize, Clone, Copy, Debug, Default)]
pub(crate) struct ErasureProgress {
    pub state_index: usize,
    pub chat_id: u64,
}

/// A page of a visitor's chats in the `listing` index.
pub(crate) struct ListedChats {
    pub chat_ids: Vec<u64>,
    /// The last chat of this page in the index, or `None` if there is no further page.
    pub next: Option<u64>,
}

/// The key of a visitor's item.
pub(crate) struct VisitorKey(Key);

impl VisitorKey {
    pub(crate) fn of_chat(chat: &Chat) -> Self {
        Self(visitor_key(&chat.channel_id, &chat.external_id))
    }
}

/// The progress has its own item, because the visitor number's item may have expired.
fn progress_key(account_id: &str, number: u64) -> Key {
    Key::new(format!("ERASURE#{account_id}#{number}"), "ERASURE")
}

/// Items of a chat.
pub(crate) struct EntriesToErase(Vec<Item>);

impl EntriesToErase {
    pub fn file_ids(&self) -> Vec<String> {
        self.0.iter().flat_map(file_ids).collect()
    }
}

impl Chats {
    /// Returns the key of the visitor with this number. Returns `None` if the number is not known or has been deleted.
    pub(crate) async fn visitor_key_of_number(
        &self,
        account_id: &str,
        number: u64,
    ) -> Result<Option<VisitorKey>, Error> {
        let Some(item) = self.table.get(visitor_number_key(account_id, number)).await? else { return Ok(None) };
        let VisitorNumberItem { visitor_pk, visitor_sk, .. } = from_item(item)?;
        Ok(Some(VisitorKey(Key::new(visitor_pk, visitor_sk))))
    }

    pub(crate) async fn erasure_progress(
        &self,
        account_id: &str,
        number: u64,
    ) -> Result<Option<ErasureProgress>, Error> {
        self.table.get(progress_key(account_id, number)).await?.map(from_item).transpose()
    }

    pub(crate) async fn save_erasure_progress(
        &self,
        account_id: &str,
        number: u64,
        progress: ErasureProgress,
    ) -> Result<(), Error> {
        let update = ItemUpdate {
            key: progress_key(account_id, number),
            update: "SET #state_index = :state_index, #chat_id = :chat",
            condition: "",
            values: vec![(":state_index", n(progress.state_index)), (":chat", n(progress.chat_id))],
        };
        self.table.update(update).await.unconditional().map(|_| ())
    }

    /// Deletes the visitor number and the progress of its erasure.
    pub(crate) async fn finish_erasure(&self, account_id: &str, number: u64) -> Result<(), Error> {
        self.table.delete(visitor_number_key(account_id, number)).await?;
        self.table.delete(progress_key(account_id, number)).await.map(|_| ())
    }

    /// Deletes a visitor's item and returns the visitor, unless the item now belongs to a visitor with another number.
    pub(crate) async fn delete_visitor(&self, key: VisitorKey, number: u64) -> Result<Option<Visitor>, Error> {
        let is_same_visitor = "#number = :number";
        let deleted = self.table.delete_if(key.0, is_same_visitor, vec![(":number", n(number))]).await?;
        deleted.map(visitor_from_item).transpose()
    }

    /// Reads a page of the visitor's chats in a state, in the order of their numbers, starting after the chat `after`.
    pub(crate) async fn listed_chats_of_visitor(
        &self,
        (account_id, number): (&str, u64),
        state: &str,
        after: u64,
    ) -> Result<ListedChats, Error> {
        let query = Query {
            index: Some("listing"),
            condition: "#listing = :listing AND #chat_id > :after",
            values: vec![(":listing", s(listing_key(account_id, state))), (":after", n(after)), (":number", n(number))],
            limit: INDEX_PAGE_ITEMS,
            descending: false,
        };
        let found = self.table.query_page(query, "#visitor_number = :number", None).await?;
        let chat_ids = found.items.iter().filter_map(item_chat_id).collect();
        Ok(ListedChats { chat_ids, next: found.next.as_ref().and_then(item_chat_id) })
    }

    /// Closes a chat and marks it as being erased, so that no messages or notes are added: messages require an open
    /// chat, and private notes require a chat without the mark. Returns `None` if the chat does not exist.
    pub(crate) async fn close_for_erasure(
        &self,
        account_id: &str,
        chat_id: u64,
        erased_at: Timestamp,
    ) -> Result<Option<Chat>, Error> {
        let mut close = ItemUpdate {
            key: header_key(account_id, chat_id),
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
        close.values.extend(closed_chat_values(account_id, erased_at));
        self.table.update(close).await.condition()?.ok().map(chat_from_item).transpose()
    }

    /// Reads some of a chat's items, which [`delete_entries`](Self::delete_entries) deletes.
    pub(crate) async fn entries_to_erase(&self, account_id: &str, chat_id: u64) -> Result<EntriesToErase, Error> {
        let query = Query {
            index: None,
            condition: "#pk = :chat",
            values: vec![(":chat", s(chat_pk(account_id, chat_id)))],
            limit: MAX_CONCURRENT_DELETES,
            descending: false,
        };
        self.table.query(query).await.map(EntriesToErase)
    }

    /// Deletes entries and the panel, but not the header. Returns how many were deleted, or `None` if none are left.
    pub(crate) async fn delete_entries(
        &self,
        account_id: &str,
        EntriesToErase(found): &EntriesToErase,
    ) -> Result<Option<u64>, Error> {
        let mut deleted = 0;
        for item in found {
            deleted += u64::from(self.delete_reserved_call(account_id, item).await?);
        }
        let (reserved, others): (Vec<_>, Vec<_>) = found.iter().partition(|item| has_reserved_minutes(item));
        let keys = others.into_iter().filter_map(item_key).filter(|key| key.sk != HEADER_SORT_KEY);
        deleted += try_join_all(keys.map(|key| self.table.delete(key))).await?.len() as u64;
        Ok((deleted > 0 || !reserved.is_empty()).then_some(deleted))
    }

    /// Stores the record of an erased chat. Consoles that still show the chat learn of its erasure from this record.
    pub(crate) async fn record_erased_chat(
        &self,
        account_id: &str,
        chat_id: u64,
        erased_at: Timestamp,
    ) -> Result<(), Error> {
        let mut update = ItemUpdate {
            key: erased_chat_key(account_id, chat_id),
            update: concat!("SET #expires_at = :expires_at, ", set_closed_chat!()),
            condition: "",
            values: vec![(":expires_at", n(erased_at.plus(ERASED_CHAT_TTL).seconds()))],
        };
        update.values.extend(closed_chat_values(account_id, erased_at));
        self.table.update(update).await.unconditional().map(|_| ())
    }

    /// Deletes a chat's header. Returns whether it existed.
    pub(crate) async fn delete_header(&self, account_id: &str, chat_id: u64) -> Result<bool, Error> {
        Ok(self.table.delete(header_key(account_id, chat_id)).await?.is_some())
    }
}
