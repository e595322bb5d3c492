//! The receipts of a message, which are attributes of its entry.

use crate::domain::chats::message_receipt::ReceiptKind;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::{Chats, entry_key};
use crate::store::table::{ItemUpdate, WriteResult, n, s};

impl Chats {
    /// Stores when a message was delivered or read. An earlier time is preserved.
    ///
    /// # Errors
    /// Fails with `NotFound` if the entry has been erased.
    pub(crate) async fn store_receipt(
        &self,
        entry: &TimelineEntry,
        kind: ReceiptKind,
        now: Timestamp,
    ) -> Result<(), Error> {
        let update = match kind {
            ReceiptKind::Delivered => "SET #delivered_at = if_not_exists(#delivered_at, :now)",
            ReceiptKind::Read => {
                "SET #delivered_at = if_not_exists(#delivered_at, :now), #read_at = if_not_exists(#read_at, :now)"
            }
        };
        let key = entry_key(&entry.account_id, entry.chat_id, entry.seq);
        let values = vec![(":now", n(now.0)), (":id", s(&*entry.id))];
        let written = self.table.update(ItemUpdate { key, update, condition: "#id = :id", values }).await;
        written.on_condition_failed(Error::NotFound).map(|_| ())
    }
}
