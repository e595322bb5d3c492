//! The turns of a bot: a visitor who writes several short messages in a row gets one answer to all of them. The bot's
//! settings say how long the visitor must be quiet before the bot gets the messages, as one event.
//!
//! Every message keeps its own duty to be delivered. When it comes due, it waits, joins a later message, or is sent
//! together with those that have joined it. So the death of a process loses nothing.

use std::time::Duration;

use crate::domain::chats::chat::{Chat, Sender};
use crate::domain::chats::timeline_entry::{GAP_TIMEOUT, TimelineEntry};
use crate::domain::deliveries::delivery::{Delivery, DeliveryState, Target};
use crate::domain::timestamp::Timestamp;

/// Queues delay tasks by whole seconds.
const MIN_WAIT: Duration = Duration::from_secs(1);

/// When a bot gets the messages of a visitor who writes several of them in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TurnSettings {
    /// How long the visitor must be quiet. Zero means that each message is sent at once, as an event of its own.
    pub quiet: Duration,
    /// The longest time that the first message of a turn waits, even if the visitor goes on.
    pub max: Duration,
}

/// What to do with a message before its first attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnStep {
    Send,
    Wait(Duration),
    /// The event of a later message contains this one.
    Join,
}

impl TurnSettings {
    pub const DEFAULT_MAX: Duration = Duration::from_secs(15);
    pub const MAX_QUIET_MS: u64 = 10_000;
    pub const MAX_MS: std::ops::RangeInclusive<u64> = 1_000..=60_000;

    /// Each message is sent at once.
    pub const NONE: Self = Self { quiet: Duration::ZERO, max: Self::DEFAULT_MAX };

    pub fn gathers(self) -> bool {
        self.quiet > Duration::ZERO
    }

    /// Returns how long a message must wait before anything else is decided, or `None` if it has waited long enough.
    /// A task that is early by no more than `tolerance` is not sent back to the queue.
    pub fn remaining_quiet(self, entry: &TimelineEntry, tolerance: Duration, now: Timestamp) -> Option<Duration> {
        let remaining = entry.at.plus(self.quiet).since(now);
        (remaining > tolerance).then(|| remaining.max(MIN_WAIT))
    }

    /// Decides about a message that has waited for `quiet`, from the chat's entries around it. A later message counts
    /// only when it is stored, because its number alone does not say that it will ever be.
    pub fn step(self, entry: &TimelineEntry, chat: &Chat, entries: &[TimelineEntry], now: Timestamp) -> TurnStep {
        let is_later = |other: &&TimelineEntry| other.seq > entry.seq && is_unsent_message(other);
        let has_later = chat.visitor_seq > entry.seq;
        if !has_later && !chat.is_visitor_typing(now) {
            return TurnStep::Send;
        }
        let first = earlier_messages(entry, entries).first().map_or(entry.at, |first| first.at);
        // The later message, or the end of the typing, is looked at after another wait.
        let is_over = first.plus(self.max) < now.plus(self.quiet);
        match entries.iter().find(is_later) {
            _ if is_over => TurnStep::Send,
            Some(_) => TurnStep::Join,
            None => TurnStep::Wait(MIN_WAIT),
        }
    }
}

/// Returns the messages before `entry` that have joined it, oldest first: those of the visitor that were never sent, up
/// to one that was, or to what somebody else has written or the bot was told.
pub fn earlier_messages<'e>(entry: &TimelineEntry, entries: &'e [TimelineEntry]) -> Vec<&'e TimelineEntry> {
    let before = entries.iter().rev().skip_while(|other| other.seq >= entry.seq);
    let mut messages: Vec<_> =
        before.take_while(|other| !ends_turn(other)).filter(|it| is_unsent_message(it)).collect();
    messages.reverse();
    messages
}

/// Whether messages before this entry belong to an earlier turn. Webhooks and calls do not end a turn.
fn ends_turn(entry: &TimelineEntry) -> bool {
    match entry.from {
        Sender::Visitor => is_for_bot(entry) && !is_unsent_message(entry),
        Sender::System => is_for_bot(entry),
        Sender::Bot(_) | Sender::Agent(_) => true,
    }
}

fn is_for_bot(entry: &TimelineEntry) -> bool {
    entry.delivery.as_ref().is_some_and(|delivery| delivery.target == Target::Bot)
}

/// Returns the number that a bot must send as `reply_to_seq` so that its answer takes all messages into account, after
/// an answer with another number was refused. `newer` are the stored messages after that number. A message that is just
/// being stored is not skipped; one whose number was assigned, but that was never stored, is.
pub fn answerable_seq(refused: u64, newer: &[TimelineEntry], chat: &Chat, now: Timestamp) -> u64 {
    let last_stored = newer.last().map_or(refused, |entry| entry.seq);
    let is_gap_permanent = now.since(chat.updated_at) >= GAP_TIMEOUT;
    if is_gap_permanent { last_stored.max(chat.visitor_seq) } else { last_stored }
}

/// Whether the entry is a message to a bot of which no attempt was made.
fn is_unsent_message(entry: &TimelineEntry) -> bool {
    let is_unsent = |delivery: &Delivery| {
        let is_open = matches!(delivery.state, DeliveryState::Pending | DeliveryState::Superseded);
        delivery.target == Target::Bot && is_open && delivery.attempts_made == 0
    };
    entry.from == Sender::Visitor && entry.delivery.as_ref().is_some_and(is_unsent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::chats::message_content::Content;
    use crate::domain::timestamp::Timestamp;
    use crate::wire::sample_data;

    const TURNS: TurnSettings = TurnSettings { quiet: Duration::from_secs(2), max: Duration::from_secs(6) };

    fn entry(seq: u64, from: Sender, target: Option<Target>, state: DeliveryState) -> TimelineEntry {
        let at = Timestamp(seq * 1_000);
        let delivery = target.map(|target| Delivery { state, ..Delivery::new(target, at) });
        let content = Content::text("Hi");
        TimelineEntry { seq, from, at, content, delivery, ..sample_data::visitor_message("id", at) }
    }

    fn message(seq: u64, state: DeliveryState) -> TimelineEntry {
        entry(seq, Sender::Visitor, Some(Target::Bot), state)
    }

    fn chat(visitor_seq: u64, typing_started_at: Option<Timestamp>) -> Chat {
        Chat { visitor_seq, typing_started_at, ..sample_data::chat(Timestamp(0)) }
    }

    #[test]
    fn message_waits_for_the_quiet_time() {
        let message = message(1, DeliveryState::Pending);
        let remaining = |now| TURNS.remaining_quiet(&message, Duration::from_millis(500), Timestamp(now));
        assert_eq!(remaining(1_000), Some(Duration::from_secs(2)));
        assert_eq!(remaining(2_300), Some(Duration::from_secs(1)), "queues wait for whole seconds");
        assert_eq!((remaining(2_500), remaining(3_000), remaining(9_000)), (None, None, None));
    }

    #[test]
    fn last_message_is_sent_and_earlier_ones_join_it() {
        use DeliveryState::{Pending, Superseded};
        let entries = [message(1, Superseded), message(2, Pending), message(3, Pending)];
        let [_, second, third] = &entries;
        let step = |entry, chat: &Chat, entries, now| TURNS.step(entry, chat, entries, Timestamp(now));
        assert_eq!(step(third, &chat(3, None), &entries, 5_000), TurnStep::Send);
        assert_eq!(step(second, &chat(3, None), &entries, 4_000), TurnStep::Join);
        assert_eq!(
            step(second, &chat(3, None), &entries[..2], 4_000),
            TurnStep::Wait(MIN_WAIT),
            "the later message may never be stored"
        );
        let typing = chat(3, Some(Timestamp(4_500)));
        assert_eq!(step(third, &typing, &entries, 5_000), TurnStep::Wait(MIN_WAIT));
        // The first message was sent at 1 s, so the turn ends at 7 s, and a wait would last until 7.1 s.
        assert_eq!(step(third, &typing, &entries, 5_100), TurnStep::Send);
        assert_eq!(step(second, &chat(3, None), &entries, 5_100), TurnStep::Send);
    }

    #[test]
    fn refused_answer_skips_only_messages_that_will_never_be_stored() {
        let chat = Chat { updated_at: Timestamp(20_000), ..chat(3, None) };
        let seq = |newer: &[TimelineEntry], now| answerable_seq(1, newer, &chat, Timestamp(now));
        let stored = [message(2, DeliveryState::Pending)];
        assert_eq!((seq(&[], 20_100), seq(&stored, 20_100)), (1, 2), "the third is just being stored");
        assert_eq!((seq(&[], 30_000), seq(&stored, 30_000)), (3, 3), "it will never be");
        assert_eq!(seq(&[message(3, DeliveryState::Pending)], 20_100), 3);
    }

    #[test]
    fn turn_consists_of_the_messages_that_were_not_sent() {
        use DeliveryState::{Delivered, Failed, Pending, Superseded};
        let webhook = |seq| entry(seq, Sender::System, Some(Target::Webhook), Pending);
        let notice = |seq| entry(seq, Sender::System, Some(Target::Bot), Pending);
        let bot = |seq| entry(seq, Sender::Bot("Robin".into()), None, Pending);
        let call = |seq| entry(seq, Sender::Visitor, Some(Target::Call), Pending);
        let attempted = |seq| {
            let mut attempted = message(seq, Pending);
            attempted.delivery.iter_mut().for_each(|delivery| delivery.attempts_made = 1);
            attempted
        };
        let table: [(Vec<TimelineEntry>, &[u64]); 7] = [
            (vec![message(1, Superseded), message(2, Superseded)], &[1, 2]),
            (vec![message(1, Superseded), webhook(2), call(3), message(4, Superseded)], &[1, 4]),
            (vec![message(1, Superseded), bot(2), message(3, Superseded)], &[3]),
            (vec![message(1, Superseded), message(2, Delivered)], &[]),
            (vec![message(1, Superseded), attempted(2), message(3, Pending)], &[3]),
            (vec![message(1, Superseded), message(2, Failed)], &[]),
            (vec![message(1, Superseded), notice(2)], &[]),
        ];
        for (mut entries, expected) in table {
            let last = message(9, Pending);
            entries.extend([last.clone(), message(10, Pending)]);
            let seqs: Vec<u64> = earlier_messages(&last, &entries).iter().map(|entry| entry.seq).collect();
            assert_eq!(seqs, expected);
        }
    }
}
