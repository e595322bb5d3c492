//! The scope of a chat export, its pages, and the cursor of the next page.

use crate::domain::chats::chat::Chat;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::text::digits::parse_canonical_number;
use crate::domain::timestamp::Timestamp;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExportScope {
    /// The chat with this number, in any state.
    Chat(u64),
    /// The closed chats that were closed, or last changed after that, between these times (inclusive). If `channel_id`
    /// is set, only the chats of this channel.
    Closed { from: Timestamp, to: Timestamp, channel_id: Option<String> },
}

impl ExportScope {
    /// Returns what the audit log calls the exported chats: the number of the chat, or nothing for several chats.
    pub fn audited_id(&self) -> String {
        match self {
            Self::Chat(chat_id) => chat_id.to_string(),
            Self::Closed { .. } => String::new(),
        }
    }

    /// Whether a page of an export with this scope could have returned this cursor. The channel is not checked.
    pub fn contains(&self, cursor: &ExportCursor) -> bool {
        match self {
            Self::Chat(chat_id) => cursor.chat_id == *chat_id,
            Self::Closed { from, to, channel_id: _ } => (*from..=*to).contains(&cursor.at),
        }
    }
}

/// The position in an export after which the next page starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExportCursor {
    /// The time at which the chat was closed or last changed after that, by which the `due` index orders closed chats.
    /// Zero in the export of a single chat.
    pub at: Timestamp,
    pub chat_id: u64,
    /// The number of the last exported entry of this chat. `None` means that nothing of the chat remains to be
    /// exported.
    pub after_seq: Option<u64>,
}

impl ExportCursor {
    pub fn to_text(self) -> String {
        let Self { at, chat_id, after_seq } = self;
        match after_seq {
            Some(after_seq) => format!("{}-{chat_id}-{after_seq}", at.0),
            None => format!("{}-{chat_id}", at.0),
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        let parts: Vec<u64> = text.split('-').map(parse_canonical_number).collect::<Option<_>>()?;
        match *parts {
            [at, chat_id] => Some(Self { at: Timestamp(at), chat_id, after_seq: None }),
            [at, chat_id, seq] => Some(Self { at: Timestamp(at), chat_id, after_seq: Some(seq) }),
            _ => None,
        }
    }
}

/// A chat with some of its entries, oldest first. A long chat is continued on the next page.
#[derive(Debug, PartialEq)]
pub struct ExportedChat {
    pub chat: Chat,
    pub entries: Vec<TimelineEntry>,
}

#[derive(Debug, PartialEq)]
pub struct ExportPage {
    pub chats: Vec<ExportedChat>,
    pub next: Option<ExportCursor>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursor_round_trips_through_text() {
        for after_seq in [None, Some(0), Some(u64::MAX)] {
            let cursor = ExportCursor { at: Timestamp(7), chat_id: 12, after_seq };
            assert_eq!(ExportCursor::parse(&cursor.to_text()), Some(cursor));
        }
        for text in ["", "7", "7-", "-7", "7-+1", "7-1-2-3", "a-b"] {
            assert_eq!(ExportCursor::parse(text), None, "{text}");
        }
    }
}
