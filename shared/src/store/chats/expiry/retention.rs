//! The writes that apply a changed retention period to a chat, its entries and its visitor.

use serde::Deserialize;

use crate::domain::chats::chat::Chat;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::expiry::visitor_expiry::{VisitorExpiry, chat_expiry, visitor_number_expiry_write};
use crate::store::chats::{Chats, entry_key, header_key, panel_key, visitor_key};
use crate::store::table::{ITEM_EXISTS, ItemUpdate, Write, n};
use crate::store::write_races::WriteRaces;
use crate::store::{from_item, to_attribute};

/// The attributes of a visitor's item that determine when it expires.
#[derive(Deserialize)]
struct VisitorExpiryItem {
    number: u64,
    #[serde(default)]
    open_chat: Option<u64>,
    #[serde(default)]
    expires_at: Option<u64>,
    #[serde(default)]
    last_closed_at: Option<u64>,
}

impl Chats {
    /// Sets the expiry of a closed chat's header and panel according to the chat's retention period.
    pub(crate) async fn set_chat_expiry(&self, chat: &Chat) -> Result<(), Error> {
        let panel = ItemUpdate {
            key: panel_key(&chat.account_id, chat.chat_id),
            update: "SET #expires_at = :expires_at",
            condition: ITEM_EXISTS,
            values: vec![(":expires_at", chat_expiry(chat))],
        };
        let header = ItemUpdate {
            key: header_key(&chat.account_id, chat.chat_id),
            update: "SET #retention_days = :retention_days, #expires_at = :expires_at",
            condition: ITEM_EXISTS,
            values: vec![(":retention_days", to_attribute(&chat.retention_days)?), (":expires_at", chat_expiry(chat))],
        };
        self.table.update_if(panel).await?;
        self.table.update_if(header).await
    }

    /// Sets the time at which an entry expires, in seconds. `None` means that it never expires.
    pub(crate) async fn set_entry_expiry(&self, entry: &TimelineEntry, until: Option<u64>) -> Result<(), Error> {
        let key = entry_key(&entry.account_id, entry.chat_id, entry.seq);
        let (update, values) = match until {
            Some(until) => ("SET #expires_at = :expires_at", vec![(":expires_at", n(until))]),
            None => ("REMOVE #expires_at", vec![]),
        };
        self.table.update_if(ItemUpdate { key, update, condition: ITEM_EXISTS, values }).await
    }

    /// Updates a visitor's expiry. A visitor expires together with the closed chat that expires last. After the change,
    /// all chats have the same retention period, so the chat that was closed last also expires last.
    pub(crate) async fn update_visitor_expiry(&self, closed_chat: &Chat, now: Timestamp) -> Result<(), Error> {
        let key = visitor_key(&closed_chat.channel_id, &closed_chat.external_id);
        let mut races = WriteRaces::new("visitor retention");
        loop {
            let Some(item) = self.table.get(key.clone()).await? else { return Ok(()) };
            let visitor: VisitorExpiryItem = from_item(item)?;
            let is_expired = visitor.open_chat.is_none() && visitor.expires_at.is_some_and(|end| end <= now.seconds());
            if visitor.number != closed_chat.visitor_number || is_expired {
                return Ok(());
            }
            let last_closed_at = visitor
                .last_closed_at
                .map_or(closed_chat.updated_at, |last| closed_chat.updated_at.max(Timestamp(last)));
            let last = Chat { updated_at: last_closed_at, ..closed_chat.clone() };
            let written = self.table.transact(visitor_expiry_writes(&visitor, &last)).await;
            if let Some(result) = races.final_result(written) {
                return result;
            }
        }
    }
}

/// Returns the writes that set the expiry of a visitor and of the visitor number. They fail if one of the visitor's
/// chats was opened or closed after `visitor` was read. While a chat is open, neither item expires. When it
/// is closed, the later one of the stored expiry and the chat's own expiry applies.
fn visitor_expiry_writes(visitor: &VisitorExpiryItem, last: &Chat) -> Vec<Write> {
    let expiry = VisitorExpiry::of_closed_chat(last);
    let mut values = vec![
        (":retain_until", expiry.attribute().clone()),
        (":last_closed_at", n(last.updated_at.0)),
        (":number", n(visitor.number)),
    ];
    values.extend(visitor.last_closed_at.map(|last_closed_at| (":read_last_closed_at", n(last_closed_at))));
    let is_open = visitor.open_chat.is_some();
    let condition = match (is_open, visitor.last_closed_at.is_some()) {
        (true, true) => "#number = :number AND attribute_exists(#open_chat) AND #last_closed_at = :read_last_closed_at",
        (true, false) => "#number = :number AND attribute_exists(#open_chat) AND attribute_not_exists(#last_closed_at)",
        (false, true) => {
            "#number = :number AND attribute_not_exists(#open_chat) AND #last_closed_at = :read_last_closed_at"
        }
        (false, false) => {
            "#number = :number AND attribute_not_exists(#open_chat) AND attribute_not_exists(#last_closed_at)"
        }
    };
    let update = if is_open {
        "SET #retain_until = :retain_until, #last_closed_at = :last_closed_at"
    } else {
        "SET #expires_at = :retain_until, #retain_until = :retain_until, #last_closed_at = :last_closed_at"
    };
    let visitor = ItemUpdate { key: visitor_key(&last.channel_id, &last.external_id), update, condition, values };
    let number = (!is_open).then(|| visitor_number_expiry_write(last, &expiry));
    [Write::Update(visitor)].into_iter().chain(number).collect()
}
