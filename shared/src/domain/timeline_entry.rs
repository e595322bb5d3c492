//! One entry of a chat's timeline: a message and, when it goes to somebody's server, the duty to send it.
//! Both are one item, so that the fact and the duty are committed by one write.

use std::time::Duration;

use crate::domain::chat::Sender;
use crate::domain::content::Content;
use crate::domain::delivery::Delivery;
use crate::domain::timestamp::Timestamp;
use crate::domain::webhook::WebhookDispatch;

/// How long a number that was taken may wait for its entry, which another write stores: no function that a message comes
/// through runs longer.
const GAP_TIMEOUT: Duration = Duration::from_secs(10);

/// An entry of a timeline.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The account.
    pub account_id: String,
    /// The chat.
    pub chat_id: u64,
    /// Its place in the chat.
    pub seq: u64,
    /// `message.id` and `webhook-id` towards the integrator; unique.
    pub id: String,
    /// Who wrote it.
    pub from: Sender,
    /// What it says.
    pub content: Content,
    /// When it was written.
    pub at: Timestamp,
    /// For an event of a webhook: which.
    pub occurrence: Option<WebhookDispatch>,
    /// When it is forgotten; none: never.
    pub keep_until: Option<Timestamp>,
    /// Its way to somebody's server, if it has one.
    pub delivery: Option<Delivery>,
}

impl Entry {
    /// Whether it is not to be shown any more; the table deletes late.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.keep_until.is_some_and(|until| until <= now)
    }
}

/// The entries behind `after` to which nothing can be added any more: up to the first missing number before an entry that
/// is so young that the missing one may still come. Who reads on from the last of these misses none. An older gap stays
/// one for ever.
pub fn stable_prefix(mut entries: Vec<Entry>, after: u64, now: Timestamp) -> Vec<Entry> {
    let mut last = after;
    let unsettled = entries.iter().position(|entry| {
        let is_gap = entry.seq > last.saturating_add(1);
        last = entry.seq;
        is_gap && now.since(entry.at) < GAP_TIMEOUT
    });
    entries.truncate(unsettled.unwrap_or(entries.len()));
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_000_000);
    const NONE: [u64; 0] = [];

    fn entry(seq: u64, age: u64) -> Entry {
        Entry {
            account_id: "a".into(),
            chat_id: 1,
            seq,
            id: String::new(),
            from: Sender::Visitor,
            content: Content::text("hi"),
            at: Timestamp(NOW.0 - age * 1_000),
            occurrence: None,
            keep_until: None,
            delivery: None,
        }
    }

    /// The numbers that remain of these entries, each with its age in seconds.
    fn settled_of(after: u64, entries: &[(u64, u64)]) -> Vec<u64> {
        let entries = entries.iter().map(|(seq, age)| entry(*seq, *age)).collect();
        stable_prefix(entries, after, NOW).iter().map(|entry| entry.seq).collect()
    }

    #[test]
    fn a_page_ends_before_a_gap_that_may_still_be_filled() {
        assert_eq!(settled_of(0, &[(1, 5), (2, 4), (4, 3), (5, 2)]), [1, 2]);
        assert_eq!(settled_of(4, &[(6, 3)]), NONE, "also right behind `after`");
        assert_eq!(settled_of(4, &[(5, 0), (6, 0)]), [5, 6], "no gap");
        assert_eq!(settled_of(4, &[(6, 9), (7, 20)]), NONE, "the next entry decides");
        assert_eq!(settled_of(0, &[]), NONE);
        assert_eq!(settled_of(u64::MAX, &[]), NONE);
    }

    #[test]
    fn a_gap_that_nothing_can_fill_any_more_is_passed_over() {
        assert_eq!(settled_of(0, &[(1, 30), (3, 10), (4, 0)]), [1, 3, 4]);
        assert_eq!(settled_of(4, &[(6, 10), (8, 9)]), [6], "one of two");
    }
}
