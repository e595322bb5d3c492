//! The idempotency key of a request. A repeated request with the same key gets the response to the first request and
//! stores nothing.

use std::fmt::Display;

use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::deliveries::delivery::Target;
use crate::domain::sha256;

/// The key of a request, together with its scope, such as the visitor, the agent and chat, or the bot. The key is the
/// `Idempotency-Key` header, the message id that a widget sends, or the provider's id of an incoming call. The same key
/// in another scope is a different key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotencyKey {
    pub scope: String,
    /// The SHA-256 hash of the key, in hexadecimal.
    pub key_hash: String,
    /// The SHA-256 hash of the request body, in hexadecimal. A request with the same key but a different body is
    /// rejected.
    pub body_hash: String,
}

impl IdempotencyKey {
    /// Creates a key. Equivalent bodies must be formatted as the same text. `serde_json::Value` meets this requirement
    /// because it formats objects with sorted keys and without whitespace.
    pub fn new(scope: String, key: &[u8], body: impl Display) -> Self {
        Self { scope, key_hash: sha256::hex_digest(key), body_hash: sha256::hex_digest(body.to_string()) }
    }
}

/// What a request that has stored a message responds with. A repeated request gets the receipt of the first one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageReceipt {
    pub chat_id: u64,
    pub seq: u64,
    /// The id of the stored message, which the specification calls `message.id`.
    pub id: String,
    /// The kind of receiver to which the message is sent. `None` if it is only shown.
    pub target: Option<Target>,
    /// False if this is a bot's message that the channel cannot display.
    pub is_displayable: bool,
}

impl MessageReceipt {
    pub fn of(entry: &TimelineEntry) -> Self {
        Self {
            chat_id: entry.chat_id,
            seq: entry.seq,
            id: entry.id.clone(),
            target: entry.delivery.as_ref().map(|delivery| delivery.target),
            is_displayable: entry.content.is_displayable(),
        }
    }
}
