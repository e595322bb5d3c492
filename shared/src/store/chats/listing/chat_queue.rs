//! The chats of an account that wait for an agent, and their positions in the queue. The assignment stores the
//! positions when it has assigned what it could, so that a visitor's request for the position reads one item.

use serde::Deserialize;

use crate::domain::chats::chat::Chat;
use crate::error::Error;
use crate::store::chats::listing::chat_listing::MAX_HEADERS_PER_READ;
use crate::store::chats::{Chats, item_chat_id, listing_key};
use crate::store::table::{ItemUpdate, Key, Query, s};
use crate::store::{from_item, to_attribute};

/// The maximum number of waiting chats that one assignment considers. The chats after them move up as others leave.
const MAX_QUEUED_CHATS: usize = 500;

#[derive(Deserialize)]
struct QueueItem {
    /// The numbers of the chats that wait for the same agents, in the order in which they are assigned.
    lines: Vec<Vec<u64>>,
}

fn queue_key(account_id: &str) -> Key {
    Key::new(format!("CHAT_QUEUE#{account_id}"), "QUEUE")
}

impl Chats {
    /// Reads the oldest waiting chats. The index is updated with a delay, so the chat `also` is read, too.
    pub async fn queued_chats(&self, account_id: &str, also: Option<u64>) -> Result<Vec<Chat>, Error> {
        let query = Query {
            index: Some("listing"),
            condition: "#listing = :listing",
            values: vec![(":listing", s(listing_key(account_id, "waiting")))],
            limit: i32::try_from(MAX_QUEUED_CHATS).map_err(Error::internal)?,
            descending: false,
        };
        let mut ids: Vec<u64> = self.table.query(query).await?.iter().filter_map(item_chat_id).collect();
        ids.extend(also.filter(|id| !ids.contains(id)));
        let mut chats = Vec::with_capacity(ids.len());
        for ids in ids.chunks(MAX_HEADERS_PER_READ) {
            chats.extend(self.chats_by_id(account_id, ids).await?);
        }
        chats.retain(|chat| chat.state.is_waiting());
        Ok(chats)
    }

    /// Stores the chats that are still waiting. `lines` are the numbers of the chats that wait for the same agents, in
    /// the order in which they are assigned. Does nothing if they are stored already.
    pub async fn store_queue(&self, account_id: &str, lines: &[Vec<u64>]) -> Result<(), Error> {
        let update = ItemUpdate {
            key: queue_key(account_id),
            update: "SET #lines = :lines",
            condition: if lines.is_empty() {
                "attribute_exists(#lines) AND #lines <> :lines"
            } else {
                "attribute_not_exists(#lines) OR #lines <> :lines"
            },
            values: vec![(":lines", to_attribute(&lines)?)],
        };
        self.table.update_if(update).await
    }

    /// Returns the position of a waiting chat among those that wait for the same agents, starting at 1. `None` if the
    /// chat does not wait, or if its position is not known yet.
    pub async fn queue_position(&self, chat: &Chat) -> Result<Option<u64>, Error> {
        if !chat.state.is_waiting() {
            return Ok(None);
        }
        let Some(item) = self.table.get(queue_key(&chat.account_id)).await? else { return Ok(None) };
        let QueueItem { lines } = from_item(item)?;
        let index = lines.iter().find_map(|line| line.iter().position(|chat_id| *chat_id == chat.chat_id));
        Ok(index.map(|index| index as u64 + 1))
    }
}
