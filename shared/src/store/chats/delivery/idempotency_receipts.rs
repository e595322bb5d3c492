//! Receipts of stored messages. A receipt is the stored response to a request with an idempotency key. A request that
//! repeats the key gets the receipt of the first request. A receipt expires after a day, but is used until DynamoDB
//! deletes it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::domain::chats::idempotency_key::{IdempotencyKey, MessageReceipt};
use crate::domain::chats::planned_message::PlannedMessage;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::deliveries::delivery::Target;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::Chats;
use crate::store::table::{Key, Write};
use crate::store::{from_item, to_item};

const RECEIPT_TTL: Duration = Duration::from_secs(24 * 60 * 60);

#[derive(Serialize, Deserialize)]
struct ReceiptItem {
    pk: String,
    sk: String,
    chat_id: u64,
    seq: u64,
    id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    target: Option<String>,
    #[serde(default)]
    body_hash: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    not_displayable: bool,
    expires_at: u64,
}

impl IdempotencyKey {
    fn item_key(&self) -> Key {
        Key::new(format!("IDEMPOTENCY#{}#{}", self.scope, self.key_hash), "ANSWER")
    }

    /// Returns the write that stores the receipt of an entry. The write belongs in the transaction that stores the
    /// entry.
    pub(crate) fn receipt_write(&self, entry: &TimelineEntry) -> Result<Write, Error> {
        self.receipt_write_at(entry, entry.at)
    }

    /// Returns the same write for a request that was received at `now` and changes an older entry.
    pub(crate) fn receipt_write_at(&self, entry: &TimelineEntry, now: Timestamp) -> Result<Write, Error> {
        self.write_of(MessageReceipt::of(entry), now)
    }

    /// Returns the write that stores the receipt of a planned message, which has no entry yet.
    pub(crate) fn planned_receipt_write(&self, planned: &PlannedMessage, now: Timestamp) -> Result<Write, Error> {
        let PlannedMessage { chat_id, planned_id, .. } = planned;
        let (chat_id, id) = (*chat_id, planned_id.clone());
        self.write_of(MessageReceipt { chat_id, seq: 0, id, target: None, is_displayable: true }, now)
    }

    fn write_of(&self, receipt: MessageReceipt, now: Timestamp) -> Result<Write, Error> {
        let Key { pk, sk } = self.item_key();
        let expires_at = now.plus(RECEIPT_TTL).seconds();
        let MessageReceipt { chat_id, seq, id, target, is_displayable } = receipt;
        let target = target.map(|target| target.name().to_owned());
        let (not_displayable, body_hash) = (!is_displayable, Some(self.body_hash.clone()));
        let item = ReceiptItem { pk, sk, chat_id, seq, id, target, body_hash, not_displayable, expires_at };
        to_item(&item).map(Write::Create)
    }
}

impl Chats {
    /// Reads the receipt of an earlier request with the same key. Fails with [`Error::IdempotencyMismatch`] if that
    /// request had a different body.
    pub async fn earlier_receipt(&self, key: Option<&IdempotencyKey>) -> Result<Option<MessageReceipt>, Error> {
        let Some(key) = key else { return Ok(None) };
        let Some(item) = self.table.get(key.item_key()).await? else { return Ok(None) };
        let ReceiptItem { chat_id, seq, id, target, not_displayable, body_hash, .. } = from_item(item)?;
        if body_hash.is_some_and(|first| first != key.body_hash) {
            return Err(Error::IdempotencyMismatch);
        }
        let target = target.as_deref().and_then(Target::parse);
        Ok(Some(MessageReceipt { chat_id, seq, id, target, is_displayable: !not_displayable }))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::Value;

    use super::*;

    #[test]
    fn json_bodies_with_equal_values_have_the_same_hash() {
        let hash = |body: &str| {
            IdempotencyKey::new(String::new(), b"k", serde_json::from_str::<Value>(body).unwrap()).body_hash
        };
        let first = hash(r#"{"a": {"x": 1, "y": "\u00e9"}, "b": [1, 2]}"#);
        assert_eq!(first, hash(r#"{"b":[1,2],"a":{"y":"é","x":1}}"#));
        for other in [r#"{"a": {"x": 1, "y": "é"}, "b": [2, 1]}"#, r#"{"a": {"x": "1", "y": "é"}, "b": [1, 2]}"#, "{}"]
        {
            assert_ne!(first, hash(other), "{other}");
        }
    }
}
