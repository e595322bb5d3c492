//! Remembers the open chats of visitors who have recently written. The chat's header can then be written while the
//! visitor is read, so that a further message takes the time of two requests instead of three. Each process has its
//! own memory.
//!
//! The memory may be out of date, so the write of the header has a condition. It fails if the chat has been closed, and
//! also once the chat's visitor has been blacklisted: the attribute `must_read_visitor` is set in the header before the
//! visitor's item is changed. After a failed write, the message is stored as if the chat had not been remembered.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::domain::chat::Chat;
use crate::domain::chat_state::ChatState;
use crate::domain::visitor::VisitorProfile;
use crate::store::chats::Chats;
use crate::store::chats::visitor_messages::{HeaderUpdate, IncomingMessage};

/// If this many chats are remembered and another visitor writes, all are forgotten.
const MAX_CHATS: usize = 1_000;

/// The remembered chats by channel and visitor.
#[derive(Default)]
pub(in crate::store) struct RecentOpenChats(Mutex<HashMap<(String, String), RecentChat>>);

struct RecentChat {
    chat_id: u64,
    /// The profile that came with the visitor's last message. If a message comes with another profile, the header
    /// depends on the stored visitor, because it contains the visitor's name.
    profile: VisitorProfile,
}

impl RecentOpenChats {
    /// Does nothing if a message of this kind never uses the memory.
    pub(super) fn remember(&self, incoming: &IncomingMessage<'_>, chat_id: u64) {
        if !can_advance_first(incoming) {
            return;
        }
        let mut chats = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if chats.len() >= MAX_CHATS {
            chats.clear();
        }
        chats.insert(key(incoming), RecentChat { chat_id, profile: incoming.profile.clone() });
    }

    /// Returns the id of the chat and forgets it.
    fn take(&self, incoming: &IncomingMessage<'_>) -> Option<u64> {
        let chat = self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&key(incoming))?;
        (chat.profile == *incoming.profile).then_some(chat.chat_id)
    }
}

/// Whether the header can be written before anything is read. With an idempotency key, the receipt must be read first.
fn can_advance_first(incoming: &IncomingMessage<'_>) -> bool {
    incoming.key.is_none() && !incoming.needs_header()
}

fn key(incoming: &IncomingMessage<'_>) -> (String, String) {
    (incoming.channel.channel_id.clone(), incoming.external_id.to_owned())
}

impl Chats {
    /// Assigns the next entry number of the remembered chat without having read the visitor. Returns `None` if no chat
    /// is remembered, if the message requires that something is read first, or if the write fails. Costs at most one
    /// write, or two if the rate limit's attribute contains an old count.
    ///
    /// If another process has changed the visitor's profile or open chat in the meantime, the number may remain unused,
    /// like that of a failed request.
    pub(super) async fn advance_recent_header(&self, incoming: &IncomingMessage<'_>) -> Option<Chat> {
        if !can_advance_first(incoming) {
            return None;
        }
        let update = HeaderUpdate {
            account_id: &incoming.channel.account_id,
            chat_id: self.recent_open_chats.take(incoming)?,
            states: ChatState::OPEN_NAMES,
            visitor_name: None,
            new_invite: None,
            entry_count: 1,
        };
        self.advance_header(incoming, &update).await.ok()
    }
}
