//! Finds the chats that were closed or erased since a given time, and the chats that were closed in a time range. The
//! `due` index contains them, ordered by the time at which they were closed or erased. If a chat was changed after it
//! was closed, the time of the last change replaces the time of closing.

use crate::domain::chats::chat::Chat;
use crate::domain::chats::chat_changes::ClosedChat;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::delivery::due_index::closed_chats_partition;
use crate::store::chats::{Chats, ERASED_CHAT_SORT_KEY, erased_chat_key, header_key, item_due_at, item_key};
use crate::store::table::{Item, Query, n, s};

#[derive(Debug)]
pub struct ClosedChatsPage {
    pub closed: Vec<Chat>,
    /// The numbers of the chats that no longer exist.
    pub erased: Vec<u64>,
    /// The last chat of this page in the index, or `None` if there is no further page.
    pub next: Option<ClosedChat>,
}

impl Chats {
    /// Reads at most 100 chats that were closed, changed after they were closed, or erased at `since` or later. Starts
    /// after the chat `after`.
    pub async fn closed_chats(
        &self,
        account_id: &str,
        since: Timestamp,
        after: Option<ClosedChat>,
    ) -> Result<ClosedChatsPage, Error> {
        let query = Query {
            index: Some("due"),
            condition: "#due = :due AND #due_at >= :since",
            values: vec![(":due", s(closed_chats_partition(account_id))), (":since", n(since.0))],
            limit: MAX_CLOSED_CHATS_PER_PAGE,
            descending: false,
        };
        let after = after.map(|last| closed_chat_index_key(account_id, last));
        let page = self.table.query_page(query, "", after).await?;
        let found: Vec<ClosedChat> = page.items.iter().filter_map(closed_chat).collect();
        let header_ids: Vec<u64> = found.iter().filter(|it| !it.is_erased).map(|it| it.chat_id).collect();
        let closed = self.chats_by_id(account_id, &header_ids).await?;
        let is_missing = |id: &u64| !closed.iter().any(|chat| chat.chat_id == *id);
        let erased = found.iter().map(|it| it.chat_id).filter(is_missing).collect();
        let next = page.next.as_ref().and_then(closed_chat);
        Ok(ClosedChatsPage { closed, erased, next })
    }
}

/// A page of closed chats, each with its position in the index.
#[derive(Debug)]
pub struct ClosedChatsRange {
    pub chats: Vec<(ClosedChat, Chat)>,
    /// The last position on this page, or `None` if there is no further page.
    pub next: Option<ClosedChat>,
}

impl Chats {
    /// Reads at most 100 chats that were closed between `from` and `to`, starting after the position `after`. For a
    /// chat that was changed after it was closed, the time of the last change counts.
    pub async fn closed_chats_between(
        &self,
        account_id: &str,
        (from, to): (Timestamp, Timestamp),
        after: Option<ClosedChat>,
    ) -> Result<ClosedChatsRange, Error> {
        if from > to {
            return Ok(ClosedChatsRange { chats: Vec::new(), next: None });
        }
        let query = Query {
            index: Some("due"),
            condition: "#due = :due AND #due_at BETWEEN :from AND :to",
            values: vec![(":due", s(closed_chats_partition(account_id))), (":from", n(from.0)), (":to", n(to.0))],
            limit: MAX_CLOSED_CHATS_PER_PAGE,
            descending: false,
        };
        let after = after.map(|last| closed_chat_index_key(account_id, last));
        let page = self.table.query_page(query, "", after).await?;
        let places: Vec<ClosedChat> = page.items.iter().filter_map(closed_chat).filter(|it| !it.is_erased).collect();
        let ids: Vec<u64> = places.iter().map(|place| place.chat_id).collect();
        let chats = self.chats_by_id(account_id, &ids).await?.into_iter();
        let place = |chat: &Chat| places.iter().find(|place| place.chat_id == chat.chat_id).copied();
        let chats = chats.filter_map(|chat| Some((place(&chat)?, chat))).collect();
        Ok(ClosedChatsRange { chats, next: page.next.as_ref().and_then(closed_chat) })
    }
}

const MAX_CLOSED_CHATS_PER_PAGE: i32 = 100;

fn closed_chat(item: &Item) -> Option<ClosedChat> {
    let key = item_key(item)?;
    let chat_id = key.pk.rsplit('#').next()?.parse().ok()?;
    Some(ClosedChat { at: item_due_at(item)?, chat_id, is_erased: key.sk == ERASED_CHAT_SORT_KEY })
}

fn closed_chat_index_key(account_id: &str, ClosedChat { at, chat_id, is_erased }: ClosedChat) -> Item {
    let key = if is_erased { erased_chat_key(account_id, chat_id) } else { header_key(account_id, chat_id) };
    let mut item = key.into_item();
    item.insert("due".to_owned(), s(closed_chats_partition(account_id)));
    item.insert("due_at".to_owned(), n(at.0));
    item
}
