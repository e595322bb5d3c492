//! Changes and deletes the timeline entries of calls.

use crate::domain::calls::phone_call::{Call, CallStatus};
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::error::Error;
use crate::store::chats::calls::call_balance::add_minutes;
use crate::store::chats::items::CallItem;
use crate::store::chats::{Chats, entry_key};
use crate::store::table::{Item, ItemUpdate, Write, WriteError, WriteResult, item_key, n};
use crate::store::to_attribute;

/// Returns the update that replaces the call in its entry. It fails if the call has changed since `call` was computed.
fn call_update(entry: &TimelineEntry, call: &Call) -> Result<ItemUpdate, Error> {
    Ok(ItemUpdate {
        key: entry_key(&entry.account_id, entry.chat_id, entry.seq),
        update: "SET #content.#call = :call",
        condition: "#content.#call.#revision = :revision",
        values: vec![
            (":call", to_attribute(&CallItem::from(call.clone()))?),
            (":revision", n(call.revision.saturating_sub(1))),
        ],
    })
}

/// Returns the same update as a part of a transaction.
pub(crate) fn call_write(entry: &TimelineEntry, call: &Call) -> Result<Write, Error> {
    call_update(entry, call).map(Write::Update)
}

impl Chats {
    /// Replaces the call in its entry. Fails if the call has changed since `call` was computed.
    pub(crate) async fn update_call(&self, entry: &TimelineEntry, call: &Call) -> Result<(), WriteError> {
        self.table.update(call_update(entry, call)?).await.map(|_| ())
    }

    /// Deletes the entry of a call whose minutes are reserved, and gives the minutes back if nobody has answered the
    /// call yet. The provider cannot be told to end an answered call, so its minutes are charged. Does nothing to
    /// another entry, or if the call has changed since `item` was read. Returns whether the entry was deleted.
    pub(crate) async fn delete_reserved_call(&self, account_id: &str, item: &Item) -> Result<bool, Error> {
        let Some((minutes, revision, is_unanswered)) = reserved_call(item) else { return Ok(false) };
        let Some(key) = item_key(item) else { return Ok(false) };
        let delete = Write::DeleteIf(key, "#content.#call.#revision = :revision", vec![(":revision", n(revision))]);
        let refund = is_unanswered.then(|| Write::Update(add_minutes(account_id, minutes)));
        Ok(self.table.transact([delete].into_iter().chain(refund).collect()).await.condition()?.is_ok())
    }
}

pub(crate) fn has_reserved_minutes(item: &Item) -> bool {
    reserved_call(item).is_some()
}

/// Returns the reserved minutes of a call in a stored entry, its revision, and whether nobody has answered it. Returns
/// `None` if the item is not such a call.
fn reserved_call(item: &Item) -> Option<(u64, u64, bool)> {
    let call = item.get("content")?.as_m().ok()?.get("call")?.as_m().ok()?;
    let number = |name: &str| call.get(name)?.as_n().ok()?.parse().ok();
    let is_unanswered = call.get("status")?.as_s().is_ok_and(|status| status == CallStatus::Start.name());
    Some((number("reserved_minutes")?, number("revision")?, is_unanswered))
}
