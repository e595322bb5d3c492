//! An entry of a chat's timeline: a message, a note, a call or a notification. If the entry has a receiver, it also
//! contains its delivery. Both are stored in one item, so that a message cannot be stored without its pending delivery.
//! This module also decides which entries a reader gets while other entries are still being stored.

use std::time::Duration;

use crate::domain::accounts::agent::AgentSnapshot;
use crate::domain::chats::chat::Sender;
use crate::domain::chats::message_content::Content;
use crate::domain::chats::message_receipt::ReceiptTimes;
use crate::domain::deliveries::delivery::{Attempt, Delivery, Target};
use crate::domain::deliveries::webhook::WebhookDispatch;
use crate::domain::timestamp::Timestamp;

/// The time after which a gap in the sequence numbers is permanent. One write reserves a sequence number and a later
/// write stores the entry. No function that stores a message runs longer than this time, so an older gap can no longer
/// be filled.
pub(crate) const GAP_TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Clone, Debug, PartialEq)]
pub struct TimelineEntry {
    pub account_id: String,
    pub chat_id: u64,
    /// The sequence number of the entry in its chat. The numbers ascend, but some can be missing.
    pub seq: u64,
    /// A unique id, which is sent as `message.id`, as `webhook-id`, as the `id` of a bot event, or as the id of a call;
    /// see [`message_id`](super::message_id).
    pub id: String,
    pub from: Sender,
    pub content: Content,
    pub at: Timestamp,
    /// The agent who made the transition that the entry reports to a bot or a webhook. `None` if no agent made it, and
    /// for other entries.
    pub caused_by: Option<AgentSnapshot>,
    /// The data of the webhook event. `None` if the entry is not a notification for a webhook.
    pub webhook_dispatch: Option<WebhookDispatch>,
    /// How far the message has come after its delivery to the integrator.
    pub receipt: ReceiptTimes,
    /// When the author last changed the text of the message. `None` if it is as it was first written, and for other
    /// entries.
    pub edited_at: Option<Timestamp>,
    /// When the message was deleted. Its content is then [`Content::Deleted`].
    pub deleted_at: Option<Timestamp>,
    /// `None` means that the entry never expires.
    pub retain_until: Option<Timestamp>,
    /// `None` if the entry has no receiver.
    pub delivery: Option<Delivery>,
}

impl TimelineEntry {
    /// Whether the retention period of the entry is over. Readers must check this, because the table deletes expired
    /// items with a delay.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.retain_until.is_some_and(|until| until <= now)
    }

    pub fn is_for_bot(&self) -> bool {
        self.delivery.as_ref().is_some_and(|delivery| delivery.target == Target::Bot)
    }

    /// Whether the entry is what the visitor has written, or a file or place that the visitor has sent.
    pub fn is_visitor_message(&self) -> bool {
        self.from == Sender::Visitor && self.content.is_visible_to_visitor()
    }

    /// Whether the entry is a message of an agent or a bot to the visitor.
    pub fn is_message_to_visitor(&self) -> bool {
        matches!(self.from, Sender::Agent(_) | Sender::Bot(_)) && self.content.is_visible_to_visitor()
    }

    /// Whether the receiver refused the credentials of the last attempt. Its signing secret may have been replaced
    /// since it was cached, so the next attempt must not use the cache.
    pub(crate) fn may_have_outdated_secret(&self) -> bool {
        let last = self.delivery.as_ref().and_then(|delivery| delivery.attempts.last());
        last.is_some_and(Attempt::is_unauthorized)
    }
}

/// Returns the entries before the first gap in the numbers that may still be filled. Without this cut, a client that
/// polls from its last `seq` would miss the late entry. `after` is the entry number after which `entries` were read. A
/// gap is permanent if the entry after it is at least `GAP_TIMEOUT` old.
pub fn stable_prefix(mut entries: Vec<TimelineEntry>, after: u64, now: Timestamp) -> Vec<TimelineEntry> {
    let mut last = after;
    let first_unstable = entries.iter().position(|entry| {
        let is_gap = entry.seq > last.saturating_add(1);
        last = entry.seq;
        is_gap && now.since(entry.at) < GAP_TIMEOUT
    });
    entries.truncate(first_unstable.unwrap_or(entries.len()));
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_000_000);
    const NONE: [u64; 0] = [];

    fn entry(seq: u64, age: u64) -> TimelineEntry {
        TimelineEntry {
            account_id: "a".into(),
            chat_id: 1,
            seq,
            id: String::new(),
            from: Sender::Visitor,
            content: Content::text("hi"),
            at: Timestamp(NOW.0 - age * 1_000),
            caused_by: None,
            webhook_dispatch: None,
            receipt: ReceiptTimes::default(),
            edited_at: None,
            deleted_at: None,
            retain_until: None,
            delivery: None,
        }
    }

    /// Returns the numbers of the entries that [`stable_prefix`] keeps. Each input entry is given by its number and its
    /// age in seconds.
    fn stable_seqs(after: u64, entries: &[(u64, u64)]) -> Vec<u64> {
        let entries = entries.iter().map(|(seq, age)| entry(*seq, *age)).collect();
        stable_prefix(entries, after, NOW).iter().map(|entry| entry.seq).collect()
    }

    #[test]
    fn page_ends_before_gap_that_may_be_filled() {
        assert_eq!(stable_seqs(0, &[(1, 5), (2, 4), (4, 3), (5, 2)]), [1, 2]);
        assert_eq!(stable_seqs(4, &[(6, 3)]), NONE, "a gap directly after `after`");
        assert_eq!(stable_seqs(4, &[(5, 0), (6, 0)]), [5, 6], "no gap");
        assert_eq!(stable_seqs(4, &[(6, 9), (7, 20)]), NONE, "the next entry decides");
        assert_eq!(stable_seqs(0, &[]), NONE);
        assert_eq!(stable_seqs(u64::MAX, &[]), NONE);
    }

    #[test]
    fn permanent_gap_is_skipped() {
        assert_eq!(stable_seqs(0, &[(1, 30), (3, 10), (4, 0)]), [1, 3, 4]);
        assert_eq!(stable_seqs(4, &[(6, 10), (8, 9)]), [6], "one permanent gap, one recent");
    }
}
