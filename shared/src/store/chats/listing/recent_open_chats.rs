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

use crate::domain::visitors::visitor::VisitorProfile;
use crate::store::chats::visitor_key;

/// If this many chats are remembered and another visitor writes, all are forgotten.
const MAX_CHATS: usize = 1_000;

/// The remembered chats by the partition key of their visitor. Contains hashes instead of personal data.
#[derive(Default)]
pub(crate) struct RecentOpenChats(Mutex<HashMap<String, RecentChat>>);

/// The visitor whose chat is remembered, with the profile that came with the message. A message with another profile
/// may change the visitor's name, which the header contains, so its visitor is read first.
#[derive(Clone, Copy)]
pub(crate) struct WritingVisitor<'a> {
    pub channel_id: &'a str,
    pub external_id: &'a str,
    pub profile: &'a VisitorProfile,
}

struct RecentChat {
    chat_id: u64,
    profile_hash: u64,
}

impl RecentOpenChats {
    pub(crate) fn remember(&self, visitor: WritingVisitor<'_>, chat_id: u64) {
        let mut chats = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if chats.len() >= MAX_CHATS {
            chats.clear();
        }
        chats.insert(visitor.key(), RecentChat { chat_id, profile_hash: visitor.profile_hash() });
    }

    /// Returns the id of the visitor's chat and forgets it. Returns `None` if the profile has changed, because the
    /// visitor must then be read before the header is written.
    pub(crate) fn take(&self, visitor: WritingVisitor<'_>) -> Option<u64> {
        let chat = self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&visitor.key())?;
        (chat.profile_hash == visitor.profile_hash()).then_some(chat.chat_id)
    }
}

impl WritingVisitor<'_> {
    fn key(self) -> String {
        visitor_key(self.channel_id, self.external_id).pk
    }

    fn profile_hash(self) -> u64 {
        BuildHasherDefault::<DefaultHasher>::default().hash_one(self.profile)
    }
}
