//! The cursor that shows how far an agent's console has followed the changes to an account's chats.
//!
//! Following the changes takes one or more *passes*. A pass reads the open chats and then the closed ones, in as many
//! pages as needed, and finds every chat that has changed since the start of the previous pass. Typing notices and
//! ratings do not count as changes. A change is stored with the time at which its request started, but it becomes
//! visible later. Therefore, a pass also looks for changes from the last [`MAX_WRITE_DELAY`] before the previous pass.
//! A console may get the same change twice, but it misses none.

use std::time::Duration;

use crate::domain::text::digits::parse_canonical_number;
use crate::domain::timestamp::Timestamp;

/// The maximum time between the stored time of a change and the moment when all readers see the change. A function that
/// changes chats runs for at most ten seconds. Functions with longer timeouts read the clock again for each chat, or,
/// to erase chats, store a time at which they have ended. The other five seconds allow for differences between clocks
/// and for the delay of the indexes.
pub const MAX_WRITE_DELAY: Duration = Duration::from_secs(15);
/// How long a cursor is valid. The records of erased chats are kept for longer than this.
pub const CURSOR_TTL: Duration = Duration::from_secs(24 * 60 * 60);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangesCursor {
    /// The start of the previous pass.
    pub since: Timestamp,
    /// The unfinished pass, or `None` if the next request starts a pass.
    pub pass: Option<ChangesPass>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangesPass {
    pub started_at: Timestamp,
    pub position: PassPosition,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassPosition {
    /// The page starts with the newest open chat whose number is below this number. `None` means the newest of all open
    /// chats.
    OpenChats(Option<u64>),
    /// The page starts with the closed or erased chat that follows this one in order of time. `None` means the first
    /// that was closed, changed or erased since the previous pass.
    ClosedChats(Option<ClosedChat>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClosedChat {
    /// When the chat was erased or, if it was not, when it was closed or last changed after that.
    pub at: Timestamp,
    pub chat_id: u64,
    pub is_erased: bool,
}

impl ChangesCursor {
    /// Creates the cursor for a console that reads its lists after `now`.
    pub fn starting_at(now: Timestamp) -> Self {
        Self { since: now, pass: None }
    }

    /// Returns the start of the period in which the pass must find all changes.
    pub fn changed_since(&self) -> Timestamp {
        self.since.minus(MAX_WRITE_DELAY)
    }

    pub fn is_expired(&self, now: Timestamp) -> bool {
        now.since(self.since) > CURSOR_TTL
    }

    /// Returns the unfinished pass. If there is none, returns a new pass that starts at `now`.
    pub fn pass_at(&self, now: Timestamp) -> ChangesPass {
        self.pass.unwrap_or(ChangesPass { started_at: now, position: PassPosition::OpenChats(None) })
    }

    /// Returns the cursor after a page of `pass`. `next` is the position of the next page, or `None` if this was the
    /// last page of the pass.
    pub fn after_page(&self, pass: &ChangesPass, next: Option<PassPosition>) -> Self {
        match next {
            Some(position) => Self { pass: Some(ChangesPass { position, ..*pass }), ..*self },
            None => Self::starting_at(pass.started_at),
        }
    }

    pub fn to_text(self) -> String {
        let since = self.since.0;
        let Some(ChangesPass { started_at, position }) = self.pass else { return since.to_string() };
        let position = match position {
            PassPosition::OpenChats(None) => "o".to_owned(),
            PassPosition::OpenChats(Some(before)) => format!("o-{before}"),
            PassPosition::ClosedChats(None) => "c".to_owned(),
            PassPosition::ClosedChats(Some(ClosedChat { at, chat_id, is_erased })) => {
                format!("{}-{}-{chat_id}", if is_erased { "e" } else { "c" }, at.0)
            }
        };
        format!("{since}-{}-{position}", started_at.0)
    }

    /// Parses a cursor. Returns `None` if the text is not a cursor, if its times contradict each other, or if its pass
    /// starts more than [`MAX_WRITE_DELAY`] after `now`.
    pub fn parse(text: &str, now: Timestamp) -> Option<Self> {
        let cursor = Self::parse_parts(&text.split('-').collect::<Vec<_>>())?;
        let pass = cursor.pass_at(cursor.since);
        let is_closed_before = match pass.position {
            PassPosition::ClosedChats(Some(closed)) => closed.at < cursor.changed_since(),
            PassPosition::ClosedChats(None) | PassPosition::OpenChats(_) => false,
        };
        let is_ordered = cursor.since <= pass.started_at && pass.started_at <= now.plus(MAX_WRITE_DELAY);
        (is_ordered && !is_closed_before).then_some(cursor)
    }

    fn parse_parts(parts: &[&str]) -> Option<Self> {
        let (since, started_at, position) = match parts {
            [since] => return Some(Self::starting_at(Timestamp(parse_canonical_number(since)?))),
            [since, started_at, position @ ..] => (since, started_at, position),
            [] => return None,
        };
        let position = match position {
            ["o"] => PassPosition::OpenChats(None),
            ["o", before] => PassPosition::OpenChats(Some(parse_canonical_number(before)?)),
            ["c"] => PassPosition::ClosedChats(None),
            [kind @ ("c" | "e"), at, chat_id] => PassPosition::ClosedChats(Some(ClosedChat {
                at: Timestamp(parse_canonical_number(at)?),
                chat_id: parse_canonical_number(chat_id)?,
                is_erased: *kind == "e",
            })),
            _ => return None,
        };
        let pass = ChangesPass { started_at: Timestamp(parse_canonical_number(started_at)?), position };
        Some(Self { since: Timestamp(parse_canonical_number(since)?), pass: Some(pass) })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NOW: Timestamp = Timestamp(1_700_000_000_000);

    fn position() -> impl Strategy<Value = PassPosition> {
        let closed_chat = (NOW.0..=u64::MAX, any::<u64>(), any::<bool>());
        let closed_chat =
            closed_chat.prop_map(|(at, chat_id, is_erased)| ClosedChat { at: Timestamp(at), chat_id, is_erased });
        prop_oneof![
            proptest::option::of(any::<u64>()).prop_map(PassPosition::OpenChats),
            proptest::option::of(closed_chat).prop_map(PassPosition::ClosedChats),
        ]
    }

    proptest! {
        #[test]
        fn cursor_round_trips_through_text(since in 0..=NOW.0, delay in 0..1_000u64, position in position()) {
            let since = Timestamp(since);
            let pass = ChangesPass { started_at: Timestamp(since.0 + delay), position };
            for pass in [None, Some(pass)] {
                let cursor = ChangesCursor { since, pass };
                prop_assert_eq!(ChangesCursor::parse(&cursor.to_text(), NOW), Some(cursor));
            }
        }

        #[test]
        fn any_text_is_parsed_or_rejected(text in "[0-9oce+ -]{0,40}") {
            if let Some(cursor) = ChangesCursor::parse(&text, NOW) {
                prop_assert_eq!(ChangesCursor::parse(&cursor.to_text(), NOW), Some(cursor));
            }
        }
    }

    #[test]
    fn malformed_cursor_is_rejected() {
        let future = (NOW.0 + 60_000).to_string();
        for text in [
            "",
            "-",
            "x",
            "+5",
            "5-",
            "5-6",
            "5-6-x",
            "5-6-c-7",
            "5-6-e",
            "6-5-o",
            "5-6-o-1-2",
            "90000-90001-c-5-1",
            &future,
        ] {
            assert_eq!(ChangesCursor::parse(text, NOW), None, "{text}");
        }
    }

    #[test]
    fn cursor_is_valid_for_a_day() {
        let cursor = ChangesCursor::starting_at(NOW);
        assert!(!cursor.is_expired(NOW.plus(CURSOR_TTL)));
        assert!(cursor.is_expired(NOW.plus(CURSOR_TTL).plus(Duration::from_millis(1))));
    }

    #[test]
    fn finished_pass_becomes_the_previous_pass() {
        let cursor = ChangesCursor::starting_at(NOW);
        let later = NOW.plus(Duration::from_secs(60));
        let pass = cursor.pass_at(later);
        let middle = cursor.after_page(&pass, Some(PassPosition::ClosedChats(None)));
        assert_eq!((middle.since, middle.changed_since()), (NOW, NOW.minus(MAX_WRITE_DELAY)));
        let pass = middle.pass_at(later.plus(Duration::from_secs(60)));
        assert_eq!(pass, ChangesPass { started_at: later, position: PassPosition::ClosedChats(None) });
        assert_eq!(middle.after_page(&pass, None), ChangesCursor::starting_at(later));
    }
}
