//! The turns of a bot: a visitor who writes several short messages in a row gets one answer to all of them. The bot's
//! settings say how long the visitor must be quiet before the bot gets the messages, as one event.
//!
//! Every message keeps its own duty to be delivered. When it comes due, it waits, joins a later message, or is sent
//! together with those that have joined it. So the death of a process loses nothing.

use std::time::Duration;

use crate::domain::chats::chat::{Chat, Sender};
use crate::domain::chats::timeline_entry::{GAP_TIMEOUT, TimelineEntry};
use crate::domain::deliveries::delivery::{Delivery, DeliveryState};
use crate::domain::timestamp::Timestamp;

/// Queues delay tasks by whole seconds.
const MIN_WAIT: Duration = Duration::from_secs(1);

/// A turn ends when it has so many messages, so that the entries read around its last message contain all of them.
const MAX_MESSAGES: usize = 20;

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
    /// No event is sent for the message, because the event of a later message contains it, or the agents have got the
    /// chat.
    Skip,
}

impl TurnSettings {
    pub const DEFAULT_MAX: Duration = Duration::from_secs(15);
    pub const MAX_QUIET_MS: u64 = 10_000;
    pub const MAX_MS: std::ops::RangeInclusive<u64> = 1_000..=60_000;

    /// Each message is sent at once.
    pub const NONE: Self = Self { quiet: Duration::ZERO, max: Self::DEFAULT_MAX };

    /// Returns `quiet` and `max` in milliseconds.
    pub fn milliseconds(self) -> [u64; 2] {
        [self.quiet, self.max].map(|duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
    }

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
        if was_answered_with_later(entry, chat, entries) {
            return TurnStep::Skip;
        }
        let earlier = earlier_messages(entry, entries);
        let first_at = earlier.first().map_or(entry.at, |first| first.at);
        let later = entries.iter().find(is_later);
        // The later message, or the end of the typing, is looked at after another wait, unless a late task has left the
        // later message due already. A backlog is then sent as one event, not as one for each message.
        let is_later_due = later.is_some_and(|later| later.at.plus(self.quiet) <= now);
        let is_over = first_at.plus(self.max) < now.plus(self.quiet) && !is_later_due;
        match later {
            _ if is_over || earlier.len() + 1 >= MAX_MESSAGES => TurnStep::Send,
            Some(later) if is_in_turn_of(entry, later, entries) => TurnStep::Skip,
            Some(_) => TurnStep::Send,
            None => TurnStep::Wait(MIN_WAIT),
        }
    }
}

fn is_in_turn_of(entry: &TimelineEntry, later: &TimelineEntry, entries: &[TimelineEntry]) -> bool {
    earlier_messages(later, entries).iter().any(|earlier| earlier.seq == entry.seq)
}

/// Whether the bot has got the message in the event of a later one and has reacted to it since. Its own task is late
/// then, for example because the process that handled it was killed. An event would ask the bot a second time.
fn was_answered_with_later(entry: &TimelineEntry, chat: &Chat, entries: &[TimelineEntry]) -> bool {
    let was_answered = |later: &&TimelineEntry| {
        let sent_at = later.delivery.as_ref().and_then(Delivery::first_attempt_at);
        later.seq > entry.seq && sent_at.is_some_and(|sent_at| chat.has_bot_event_after(sent_at))
    };
    let is_message = |other: &&TimelineEntry| other.from == Sender::Visitor && other.is_for_bot();
    entries.iter().filter(is_message).filter(was_answered).any(|later| is_in_turn_of(entry, later, entries))
}

/// Returns the messages before `entry` that have joined it, oldest first: those of the visitor that were never sent to
/// the bot, up to an event that was sent. What a bot writes meanwhile does not end a turn, because the bot has not read
/// the messages yet.
pub fn earlier_messages<'e>(entry: &TimelineEntry, entries: &'e [TimelineEntry]) -> Vec<&'e TimelineEntry> {
    let before = entries.iter().rev().skip_while(|other| other.seq >= entry.seq);
    let mut messages: Vec<_> =
        before.take_while(|other| !ends_turn(other)).filter(|it| is_unsent_message(it)).collect();
    messages.reverse();
    messages
}

/// Whether the bot has got the messages before this entry. A CHAT_RETURNED contains them.
fn ends_turn(entry: &TimelineEntry) -> bool {
    let is_message = entry.from == Sender::Visitor && entry.is_for_bot();
    (is_message && !is_unsent_message(entry)) || entry.content.is_chat_returned()
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
pub fn is_unsent_message(entry: &TimelineEntry) -> bool {
    let is_unsent = |delivery: &Delivery| {
        let is_open = matches!(delivery.state, DeliveryState::Pending | DeliveryState::Superseded);
        is_open && delivery.attempts_made == 0
    };
    entry.from == Sender::Visitor && entry.is_for_bot() && entry.delivery.as_ref().is_some_and(is_unsent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::bots::bot::BotNotification;
    use crate::domain::chats::message_content::Content;
    use crate::domain::deliveries::delivery::{Attempt, Target};
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

    fn chat_returned(seq: u64) -> TimelineEntry {
        let content = Content::bot_notification(BotNotification::ChatReturned);
        TimelineEntry { content, ..entry(seq, Sender::System, Some(Target::Bot), DeliveryState::Pending) }
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
        assert_eq!(step(second, &chat(3, None), &entries, 4_000), TurnStep::Skip);
        assert_eq!(
            step(second, &chat(3, None), &entries[..2], 4_000),
            TurnStep::Wait(MIN_WAIT),
            "the later message may never be stored"
        );
        let typing = chat(3, Some(Timestamp(4_500)));
        assert_eq!(step(third, &typing, &entries, 5_000), TurnStep::Wait(MIN_WAIT));
        // The first message was sent at 1 s, so the turn ends at 7 s, and a wait would last until 7.1 s.
        assert_eq!(step(third, &typing, &entries, 5_100), TurnStep::Send);
        let later = [entries[0].clone(), second.clone(), message(4, Pending)];
        assert_eq!(step(second, &chat(4, None), &later, 5_100), TurnStep::Send);
    }

    #[test]
    fn backlog_of_a_late_queue_is_one_event() {
        let entries = [1, 2, 3].map(|seq| message(seq, DeliveryState::Pending));
        let [first, second, third] = &entries;
        // The task of the first message was received again 36 seconds after its process was killed, and those of the
        // others have waited behind it.
        let step = |entry| TURNS.step(entry, &chat(3, None), &entries, Timestamp(37_000));
        assert_eq!([step(first), step(second), step(third)], [TurnStep::Skip, TurnStep::Skip, TurnStep::Send]);
    }

    #[test]
    fn late_message_is_not_sent_after_an_answer_to_its_turn() {
        let sent_at = |at: u64| {
            let mut second = message(2, DeliveryState::Delivered);
            let attempt = Attempt { at: Timestamp(at), status: Some(200), duration_ms: 0, error: None, answer: None };
            second.delivery.iter_mut().for_each(|delivery| {
                delivery.attempts = vec![attempt.clone()];
                delivery.attempts_made = 1;
            });
            second
        };
        let step = |second: TimelineEntry| {
            let entries = [message(1, DeliveryState::Pending), second];
            let chat = Chat { bot_event_at: Some(Timestamp(9_000)), ..chat(2, None) };
            TURNS.step(&entries[0], &chat, &entries, Timestamp(60_000))
        };
        assert_eq!(step(sent_at(4_000)), TurnStep::Skip, "the bot has answered both");
        assert_eq!(step(sent_at(10_000)), TurnStep::Send, "the bot has not answered since");
    }

    #[test]
    fn message_joins_only_an_event_that_will_contain_it() {
        use DeliveryState::{Delivered, Pending};
        let between = |seq, from, state| entry(seq, from, Some(Target::Bot), state);
        let step = |between: TimelineEntry| {
            let entries = [message(1, Pending), between, message(3, Pending)];
            TURNS.step(&entries[0], &chat(3, None), &entries, Timestamp(3_000))
        };
        assert_eq!(step(between(2, Sender::Visitor, Delivered)), TurnStep::Send, "the bot has got the second already");
        assert_eq!(step(entry(2, Sender::Bot("Robin".into()), None, Pending)), TurnStep::Skip);
        assert_eq!(step(between(2, Sender::System, Pending)), TurnStep::Skip);
        assert_eq!(step(chat_returned(2)), TurnStep::Send);
    }

    #[test]
    fn turn_has_a_largest_number_of_messages() {
        let entries: Vec<_> = (1..=30).map(|seq| message(seq, DeliveryState::Pending)).collect();
        let step = |seq: usize| TURNS.step(&entries[seq - 1], &chat(30, None), &entries, Timestamp(3_000));
        assert_eq!((step(19), step(20)), (TurnStep::Skip, TurnStep::Send));
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
        let table: [(Vec<TimelineEntry>, &[u64]); 8] = [
            (vec![message(1, Superseded), message(2, Superseded)], &[1, 2]),
            (vec![message(1, Superseded), webhook(2), call(3), message(4, Superseded)], &[1, 4]),
            (vec![message(1, Superseded), bot(2), message(3, Superseded)], &[1, 3]),
            (vec![message(1, Superseded), message(2, Delivered)], &[]),
            (vec![message(1, Superseded), attempted(2), message(3, Pending)], &[3]),
            (vec![message(1, Superseded), message(2, Failed)], &[]),
            (vec![message(1, Superseded), notice(2)], &[1]),
            (vec![message(1, Superseded), chat_returned(2)], &[]),
        ];
        for (mut entries, expected) in table {
            let last = message(9, Pending);
            entries.extend([last.clone(), message(10, Pending)]);
            let seqs: Vec<u64> = earlier_messages(&last, &entries).iter().map(|entry| entry.seq).collect();
            assert_eq!(seqs, expected);
        }
    }
}
