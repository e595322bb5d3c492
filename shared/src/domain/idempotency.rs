//! The idempotency key of a request: a repeated request with the same key gets the first answer instead of storing its
//! message twice.

use std::fmt::Display;

use crate::domain::sha256;

/// The `Idempotency-Key` of a request, unique within its scope: a visitor, an agent in a chat, or a bot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotencyKey {
    pub scope: String,
    /// SHA-256 of the key, in hexadecimal.
    pub key_hash: String,
    /// SHA-256 of the request body, in hexadecimal. The same key with another body is an error.
    pub body_hash: String,
}

impl IdempotencyKey {
    /// `body` must have one text for all bodies that count as equal. A `serde_json::Value` does: it prints objects with
    /// sorted keys and without white space.
    pub fn new(scope: String, key: &[u8], body: impl Display) -> Self {
        Self { scope, key_hash: sha256::hex_digest(key), body_hash: sha256::hex_digest(body.to_string()) }
    }
}
