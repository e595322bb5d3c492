//! The first answer to a request that carried an `Idempotency-Key`, kept for a day at least:
//! DynamoDB deletes what has expired in its own time, and until then the key still answers.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domain::delivery::Target;
use crate::domain::entry::Entry;
use crate::error::Error;
use crate::runtime::secret::hex_hash;
use crate::store::chats::Chats;
use crate::store::table::{Key, Write};
use crate::store::{from_item, to_item};

const ANSWER_TTL: Duration = Duration::from_secs(24 * 60 * 60);

/// The key of a request: unique in its scope (a visitor, an agent in a chat, a bot).
#[derive(Clone, Debug)]
pub struct IdempotencyKey {
    scope: String,
    key_hash: String,
    body_hash: String,
}

/// What was answered the first time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answered {
    /// The chat.
    pub chat_id: u64,
    /// The entry's number.
    pub seq: u64,
    /// The entry's id.
    pub id: String,
    /// Whether the entry goes to a bot.
    pub to_bot: bool,
    /// Whether the visitor gets it, if it is a bot's.
    pub is_shown: bool,
}

impl Answered {
    /// The answer to the request that stored an entry.
    pub fn of(entry: &Entry) -> Self {
        let to_bot = entry.delivery.as_ref().is_some_and(|delivery| delivery.target == Target::Bot);
        let is_shown = entry.content.is_shown();
        Self { chat_id: entry.chat_id, seq: entry.seq, id: entry.id.clone(), to_bot, is_shown }
    }
}

#[derive(Serialize, Deserialize)]
struct AnswerItem {
    pk: String,
    sk: String,
    chat_id: u64,
    seq: u64,
    id: String,
    #[serde(default)]
    to_bot: bool,
    #[serde(default)]
    body_hash: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    not_shown: bool,
    expires_at: u64,
}

impl IdempotencyKey {
    /// The key that a caller sent, within `scope`, with the body it came with. Bodies are compared as JSON values: the
    /// order of fields and white space do not count.
    pub fn new(scope: String, key: &[u8], body: &Value) -> Self {
        // serde_json keeps the fields of an object sorted.
        Self { scope, key_hash: hex_hash(key), body_hash: hex_hash(body.to_string()) }
    }

    fn item_key(&self) -> Key {
        Key::new(format!("IDEMPOTENCY#{}#{}", self.scope, self.key_hash), "ANSWER")
    }

    /// The write that remembers the answer together with what it answers.
    pub(in crate::store) fn remember(&self, entry: &Entry) -> Result<Write, Error> {
        let Key { pk, sk } = self.item_key();
        let expires_at = entry.at.after(ANSWER_TTL).seconds();
        let Answered { chat_id, seq, id, to_bot, is_shown } = Answered::of(entry);
        let (not_shown, body_hash) = (!is_shown, Some(self.body_hash.clone()));
        to_item(&AnswerItem { pk, sk, chat_id, seq, id, to_bot, not_shown, body_hash, expires_at }).map(Write::Create)
    }
}

impl Chats {
    /// The first answer to a key, if there is one; a key that came with another body is refused. One read when there is a
    /// key.
    pub async fn answered(&self, key: Option<&IdempotencyKey>) -> Result<Option<Answered>, Error> {
        let Some(key) = key else { return Ok(None) };
        let Some(item) = self.table.get(key.item_key()).await? else {
            return Ok(None);
        };
        let AnswerItem { pk: _, sk: _, chat_id, seq, id, to_bot, not_shown, body_hash, expires_at: _ } =
            from_item(item)?;
        if body_hash.is_some_and(|first| first != key.body_hash) {
            return Err(Error::IdempotencyMismatch);
        }
        Ok(Some(Answered { chat_id, seq, id, to_bot, is_shown: !not_shown }))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn bodies_are_compared_as_json_values() {
        let hash =
            |body: &str| IdempotencyKey::new(String::new(), b"k", &serde_json::from_str(body).unwrap()).body_hash;
        let first = hash(r#"{"a": {"x": 1, "y": "\u00e9"}, "b": [1, 2]}"#);
        assert_eq!(first, hash(r#"{"b":[1,2],"a":{"y":"é","x":1}}"#));
        for other in [r#"{"a": {"x": 1, "y": "é"}, "b": [2, 1]}"#, r#"{"a": {"x": "1", "y": "é"}, "b": [1, 2]}"#, "{}"]
        {
            assert_ne!(first, hash(other), "{other}");
        }
    }
}
