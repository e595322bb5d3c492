//! Remembers the open chats of visitors who have recently written. The chat's header can then be written while the
//! visitor is read, so that a further message takes the time of two requests instead of three. Each process has its
//! own memory.
//!
//! The memory may be out of date, so the write of the header has a condition. It fails if the chat has been closed, and
//! also while the visitor is blacklisted: the mark `must_read_visitor` is set in the header before the visitor's item
//! is changed. After a failed write, the message is handled as if the chat had not been remembered.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::sync::{Mutex, PoisonError};

use crate::chats::append_entry::{HeaderUpdate, IncomingMessage, MAX_VISITOR_NAME_CHARS};
use crate::domain::chat::Chat;
use crate::domain::chat_state::ChatState;
use crate::domain::message_content::truncate_chars;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::{Chats, header_key, visitor_key};
use crate::store::table::{ITEM_EXISTS, ItemUpdate, WriteError, n, s};

/// If this many chats are remembered and another visitor writes, all are forgotten.
const MAX_CHATS: usize = 1_000;

/// The remembered chats by the partition key of their visitor. Contains hashes instead of personal data.
#[derive(Default)]
pub(crate) struct RecentOpenChats(Mutex<HashMap<String, RecentChat>>);

struct RecentChat {
    chat_id: u64,
    /// The hash of the profile that came with the message. A message with another profile may change the visitor's
    /// name, which the header contains, so its visitor is read first.
    profile_hash: u64,
}

impl RecentOpenChats {
    /// Does nothing if messages of this kind are never stored early.
    pub(crate) fn remember(&self, incoming: &IncomingMessage<'_>, chat_id: u64) {
        if !can_be_early(incoming) {
            return;
        }
        let mut chats = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if chats.len() >= MAX_CHATS {
            chats.clear();
        }
        chats.insert(key(incoming), RecentChat { chat_id, profile_hash: profile_hash(incoming) });
    }

    /// Returns the id of the visitor's chat and forgets it. Returns `None` if something must be read before the header
    /// is written.
    fn take(&self, incoming: &IncomingMessage<'_>) -> Option<u64> {
        if !can_be_early(incoming) {
            return None;
        }
        let chat = self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&key(incoming))?;
        (chat.profile_hash == profile_hash(incoming)).then_some(chat.chat_id)
    }
}

/// Whether the header may be written before anything is read. With an idempotency key, the receipt must be read first.
fn can_be_early(incoming: &IncomingMessage<'_>) -> bool {
    incoming.key.is_none() && !incoming.needs_header()
}

fn key(incoming: &IncomingMessage<'_>) -> String {
    visitor_key(&incoming.channel.channel_id, incoming.external_id).pk
}

fn profile_hash(incoming: &IncomingMessage<'_>) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(incoming.profile)
}

impl Chats {
    /// Writes the header of the remembered chat as if the message did not change the visitor. Returns `None` if no chat
    /// is remembered, if something must be read first, or if the chat's state or a concurrent write prevents the write.
    ///
    /// The caller must not use the header if the visitor has been blacklisted or has another open chat, or if webhooks
    /// are notified of a changed profile. This is only possible if another request has changed the visitor in the
    /// meantime. The message's number then remains unused, and its preview and its count stay in the header, like those
    /// of a failed request.
    pub(crate) async fn advance_recent_header(&self, incoming: &IncomingMessage<'_>) -> Result<Option<Chat>, Error> {
        let Some(chat_id) = self.recent_open_chats.take(incoming) else { return Ok(None) };
        let update = HeaderUpdate {
            account_id: &incoming.channel.account_id,
            chat_id,
            states: ChatState::OPEN_NAMES,
            visitor_name: None,
            new_invite: None,
            entry_count: 1,
        };
        match self.advance_header(incoming, &update).await {
            Ok(header) => Ok(Some(header)),
            Err(WriteError::ConditionFailed { .. } | WriteError::Contended) => Ok(None),
            Err(WriteError::Error(error)) => Err(error),
        }
    }

    /// Sets the visitor's name in a header that was written early and contains another name.
    pub(crate) async fn correct_visitor_name(
        &self,
        header: &Chat,
        visitor_name: &str,
        now: Timestamp,
    ) -> Result<(), WriteError> {
        let name = truncate_chars(visitor_name, MAX_VISITOR_NAME_CHARS);
        if header.visitor_name != name {
            let key = header_key(&header.account_id, header.chat_id);
            let update = "SET #visitor_name = :name, #other_change_at = :now";
            let values = vec![(":name", s(name)), (":now", n(now.0))];
            self.table.update(ItemUpdate { key, update, condition: ITEM_EXISTS, values }).await?;
        }
        Ok(())
    }
}
