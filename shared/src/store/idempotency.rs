//! The first answer to a request that carried an `Idempotency-Key`, kept for a day at least:
//! DynamoDB deletes what has expired in its own time, and until then the key still answers.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::chats::Chats;
use super::table::{Key, Write};
use super::{from_item, to_item};
use crate::domain::delivery::Target;
use crate::domain::entry::Entry;
use crate::error::Error;

const KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// The key of a request: unique in its scope (a channel, or an agent's chat).
#[derive(Clone, Debug)]
pub struct IdempotencyKey {
    scope: String,
    key: String,
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
}

impl Answered {
    /// The answer to the request that stored an entry.
    pub fn of(entry: &Entry) -> Self {
        let to_bot = entry.delivery.as_ref().is_some_and(|delivery| delivery.target == Target::Bot);
        Self { chat_id: entry.chat_id, seq: entry.seq, id: entry.id.clone(), to_bot }
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
    expires_at: u64,
}

impl IdempotencyKey {
    /// The key that a caller sent, within `scope`.
    pub fn new(scope: String, key: &str) -> Self {
        Self { scope, key: crate::secret::hex_hash(key) }
    }

    fn item_key(&self) -> Key {
        Key::new(format!("IDEMPOTENCY#{}#{}", self.scope, self.key), "ANSWER")
    }

    /// The write that remembers the answer together with what it answers.
    pub(super) fn remember(&self, entry: &Entry) -> Result<Write, Error> {
        let Key { pk, sk } = self.item_key();
        let expires_at = entry.at.after(KEPT).seconds();
        let Answered { chat_id, seq, id, to_bot } = Answered::of(entry);
        to_item(&AnswerItem { pk, sk, chat_id, seq, id, to_bot, expires_at }).map(Write::Create)
    }
}

impl Chats {
    /// What was answered to a key before. One read when there is a key.
    pub async fn answered(&self, key: Option<&IdempotencyKey>) -> Result<Option<Answered>, Error> {
        let Some(key) = key else { return Ok(None) };
        let Some(item) = self.table.get(key.item_key()).await? else {
            return Ok(None);
        };
        let AnswerItem { pk: _, sk: _, chat_id, seq, id, to_bot, expires_at: _ } = from_item(item)?;
        Ok(Some(Answered { chat_id, seq, id, to_bot }))
    }
}
