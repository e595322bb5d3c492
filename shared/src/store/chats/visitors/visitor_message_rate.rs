//! Limits the messages of a visitor in an open chat. The write that assigns a message's number also counts the message
//! and checks the limit, so the header need not be read first.
//!
//! Time is divided into fixed windows. The windows share [`SLOTS`] attributes of the header, and a count includes the
//! number of its window. If an attribute still contains the count of an earlier window, the condition of the write
//! fails, and the write is repeated with a new count. This is rare, because a write removes the counts of all windows
//! but its own and the adjacent ones.

use aws_sdk_dynamodb::types::AttributeValue;

use crate::domain::chats::chat_state::ChatState;
use crate::domain::rate_limit::{RATE_WINDOW, fixed_window};
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::table::{ExpressionValues, Item, n, s};

/// The number of attributes that the windows share. After a pause of more than five minutes, the attribute of the new
/// window still contains an old count in about two of 32 cases. The message then needs a second write.
const SLOTS: u64 = 32;
/// The k-th message of window n has the count n times this value plus k. The value is larger than every limit.
const COUNTS_PER_WINDOW: u64 = 10_000;

/// Expands to one condition for each slot, because the condition of an `ItemUpdate` is a `&'static str`.
macro_rules! conditions {
    ($state:literal: $($slot:literal),+) => {
        [$(concat!(
            $state,
            " AND (attribute_not_exists(#must_read_visitor) OR #must_read_visitor = :is_visitor_read) AND ",
            "(attribute_not_exists(#rate_", $slot, ") OR #rate_", $slot, " BETWEEN :lowest AND :highest)"
        )),+]
    };
    ($state:literal) => {
        conditions!(
            $state: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26,
            27, 28, 29, 30, 31
        )
    };
}
/// For each slot, the condition under which a message is counted in a chat of any open state. The second part of a
/// condition requires that the visitor has been read, if the header has the mark of a blacklisted visitor.
const CONDITIONS_OF_OPEN_CHAT: [&str; SLOTS as usize] = conditions!("#state IN (:bot, :waiting, :active)");
/// The same for an open chat to which no entry has been added since it was read.
const CONDITIONS_OF_SAME_ENTRIES: [&str; SLOTS as usize] =
    conditions!("#state IN (:bot, :waiting, :active) AND #seq = :old_seq");
/// The same for a chat of one state.
const CONDITIONS_OF_ONE_STATE: [&str; SLOTS as usize] = conditions!("#state = :state");

/// The states in which a chat accepts the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequiredState {
    AnyOpen,
    /// Any open state, if the number of the chat's last entry is still this one.
    OpenWithLastEntry(u64),
    /// The name of the state that the chat had when it was read.
    Unchanged(&'static str),
}

impl RequiredState {
    pub(crate) fn includes(self, state: &str) -> bool {
        match self {
            Self::AnyOpen | Self::OpenWithLastEntry(_) => ChatState::OPEN_NAMES.contains(&state),
            Self::Unchanged(name) => name == state,
        }
    }

    fn conditions(self) -> &'static [&'static str; SLOTS as usize] {
        match self {
            Self::AnyOpen => &CONDITIONS_OF_OPEN_CHAT,
            Self::OpenWithLastEntry(_) => &CONDITIONS_OF_SAME_ENTRIES,
            Self::Unchanged(_) => &CONDITIONS_OF_ONE_STATE,
        }
    }

    fn values(self) -> ExpressionValues {
        match self {
            Self::AnyOpen => open_states().collect(),
            Self::OpenWithLastEntry(seq) => open_states().chain([(":old_seq", n(seq))]).collect(),
            Self::Unchanged(name) => vec![(":state", s(name))],
        }
    }
}

pub(crate) fn open_states() -> impl Iterator<Item = (&'static str, AttributeValue)> {
    [":bot", ":waiting", ":active"].into_iter().zip(ChatState::OPEN_NAMES.map(s))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MessageCount {
    Increment,
    /// Counts the first message in the window. The value is the count of an earlier window that the slot still
    /// contains.
    Replace(u64),
}

pub(crate) struct CountExpression {
    /// Assignments to append to a SET clause, each preceded by a comma.
    pub assignments: String,
    /// Attributes to append to a REMOVE clause, each preceded by a comma.
    pub removed: String,
    /// A condition with the placeholder `:is_visitor_read`, whose value is not in `values`.
    pub condition: &'static str,
    pub values: ExpressionValues,
}

impl MessageCount {
    pub(crate) fn expression(self, state: RequiredState, limit: u32, now: Timestamp) -> CountExpression {
        let (window, _) = fixed_window(RATE_WINDOW, now);
        let (slot, first) = (window % SLOTS, first_count(window));
        let base = first.saturating_sub(1);
        let (lowest, highest) = match self {
            Self::Increment => (base, base.saturating_add(u64::from(limit)).saturating_sub(1)),
            Self::Replace(stale) => (stale, stale),
        };
        let assignments = match self {
            Self::Increment => format!(", #rate_{slot} = if_not_exists(#rate_{slot}, :no_messages) + :one"),
            Self::Replace(_) => format!(", #rate_{slot} = :no_messages + :one"),
        };
        // Keep the counts of the adjacent windows: the clocks of the processes differ by milliseconds, so other
        // processes may still count messages in these windows.
        let others = (2..SLOTS - 1).map(|distance| format!(", #rate_{}", (window + distance) % SLOTS));
        CountExpression {
            assignments,
            removed: others.collect(),
            condition: state.conditions().get(usize::try_from(slot).unwrap_or_default()).copied().unwrap_or_default(),
            values: [(":no_messages", n(base)), (":one", n(1)), (":lowest", n(lowest)), (":highest", n(highest))]
                .into_iter()
                .chain(state.values())
                .collect(),
        }
    }

    /// Returns how to count the message when the failed write is repeated. `header` is the header that the failed write
    /// found. Returns `None` if the write did not fail because of the count.
    ///
    /// # Errors
    /// Fails with `RateLimited` if the visitor has sent as many messages in this window as the limit allows.
    pub(crate) fn after_failure(header: &Item, limit: u32, now: Timestamp) -> Result<Option<Self>, Error> {
        let (window, end) = fixed_window(RATE_WINDOW, now);
        let Some(count) = stored_count(header, window) else { return Ok(None) };
        if count / COUNTS_PER_WINDOW != window {
            return Ok(Some(Self::Replace(count)));
        }
        let is_limited = count % COUNTS_PER_WINDOW >= u64::from(limit);
        if is_limited { Err(Error::RateLimited(end.since(now))) } else { Ok(None) }
    }
}

/// Returns the name and the value of the attribute that counts the first message of a chat.
pub(crate) fn first_message_count(now: Timestamp) -> (String, AttributeValue) {
    let (window, _) = fixed_window(RATE_WINDOW, now);
    (attribute(window), n(first_count(window)))
}

fn stored_count(header: &Item, window: u64) -> Option<u64> {
    header.get(&attribute(window))?.as_n().ok()?.parse().ok()
}

fn attribute(window: u64) -> String {
    format!("rate_{}", window % SLOTS)
}

fn first_count(window: u64) -> u64 {
    window.saturating_mul(COUNTS_PER_WINDOW).saturating_add(1)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const NOW: Timestamp = Timestamp(1_700_000_004_000);

    fn header(count: u64) -> Item {
        let (window, _) = fixed_window(RATE_WINDOW, NOW);
        Item::from([(attribute(window), n(count))])
    }

    #[test]
    fn failed_count_is_repeated_only_for_an_earlier_window() {
        let (window, _) = fixed_window(RATE_WINDOW, NOW);
        let earlier = first_count(window - SLOTS) + 4;
        assert_eq!(
            MessageCount::after_failure(&header(earlier), 30, NOW).unwrap(),
            Some(MessageCount::Replace(earlier))
        );
        let below = first_count(window) + 28;
        assert_eq!(MessageCount::after_failure(&header(below), 30, NOW).unwrap(), None, "the state was the reason");
        assert_eq!(MessageCount::after_failure(&Item::new(), 30, NOW).unwrap(), None);
        let refused = MessageCount::after_failure(&header(below + 1), 30, NOW).unwrap_err();
        assert_eq!(refused.retry_after(), Some(RATE_WINDOW.saturating_sub(std::time::Duration::from_secs(4))));
    }

    #[test]
    fn count_names_each_slot_at_most_once() {
        for window in 0..SLOTS {
            let now = Timestamp(window * 10_000);
            let CountExpression { assignments, removed, condition, .. } =
                MessageCount::Increment.expression(RequiredState::AnyOpen, 30, now);
            let own = format!("#rate_{window}");
            assert!(
                assignments.contains(&format!("{own} =")) && condition.contains(&format!("({own})")),
                "{condition}"
            );
            let removed: Vec<&str> = removed.split(", ").filter(|name| !name.is_empty()).collect();
            let neighbours =
                [window, (window + 1) % SLOTS, (window + SLOTS - 1) % SLOTS].map(|it| format!("#rate_{it}"));
            assert_eq!(removed.len(), usize::try_from(SLOTS).unwrap() - 3);
            assert!(removed.iter().all(|name| !neighbours.iter().any(|kept| kept == name)), "{removed:?}");
        }
    }
}
