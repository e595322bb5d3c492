//! The rules of the delivery log, where admins find and replay their account's deliveries: its filter, its counts, its
//! cursor, and the conditions for a replay. One of the conditions applies to agents who send a message again.

use crate::domain::bots::bot_reaction::awaits_bot_reaction;
use crate::domain::chats::chat::Chat;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::deliveries::delivery::{DeliveryState, Target};
use crate::domain::deliveries::outage::{LATE_PERIOD, OutageKey};
use crate::domain::text::digits::parse_canonical_number;
use crate::domain::timestamp::Timestamp;

/// The tolerance for comparing a chat's times with those of its entries. It covers clock skew and the delay between
/// reading the clock and writing to the table.
const CLOCK_TOLERANCE: std::time::Duration = std::time::Duration::from_secs(60);

/// Selects entries with a delivery. A field that is `None` does not restrict the selection. `from` and `to` limit the
/// creation time of an entry, and are inclusive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryFilter {
    pub state: DeliveryState,
    pub target: Option<Target>,
    pub channel_id: Option<String>,
    pub webhook_id: Option<String>,
    /// Whether only failed deliveries that are still attempted again are selected.
    pub is_late: bool,
    pub from: Timestamp,
    pub to: Timestamp,
}

impl DeliveryFilter {
    pub fn all(state: DeliveryState) -> Self {
        let (from, to) = (Timestamp(0), Timestamp(u64::MAX));
        Self { state, target: None, channel_id: None, webhook_id: None, is_late: false, from, to }
    }

    /// Selects the deliveries that a receiver's outage has delayed, and that are attempted again at `now`.
    pub fn delayed_by_outage(key: &OutageKey, now: Timestamp) -> Self {
        let receiver_id = Some(key.receiver_id.clone());
        let (channel_id, webhook_id) = if key.target.is_webhook() { (None, receiver_id) } else { (receiver_id, None) };
        let from = now.minus(LATE_PERIOD);
        let all = Self::all(DeliveryState::Failed);
        Self { target: Some(key.target), channel_id, webhook_id, is_late: true, from, ..all }
    }

    pub fn matches(&self, chat: &Chat, entry: &TimelineEntry, now: Timestamp) -> bool {
        let Some(delivery) = &entry.delivery else { return false };
        delivery.visible_state(now) == self.state
            && self.target.is_none_or(|target| target == delivery.target)
            && self.matches_channel(chat)
            && self.matches_webhook(entry)
            && (!self.is_late || delivery.is_late(now))
            && (self.from..=self.to).contains(&entry.at)
            && !entry.is_expired(now)
    }

    /// Whether the chat can contain matching entries. Entries with a delivery are not written before the chat is
    /// opened, nor after the last change of a closed chat. In an open chat, webhook events can be written later.
    pub fn may_match_chat(&self, chat: &Chat) -> bool {
        let is_closed_before_range = chat.state.is_closed() && chat.changed_at().plus(CLOCK_TOLERANCE) < self.from;
        self.matches_channel(chat) && !is_closed_before_range && chat.opened_at <= self.to.plus(CLOCK_TOLERANCE)
    }

    fn matches_webhook(&self, entry: &TimelineEntry) -> bool {
        let webhook_id = entry.webhook_dispatch.as_ref().map(|dispatch| &dispatch.webhook_id);
        self.webhook_id.is_none() || self.webhook_id.as_ref() == webhook_id
    }

    fn matches_channel(&self, chat: &Chat) -> bool {
        self.channel_id.as_ref().is_none_or(|channel_id| *channel_id == chat.channel_id)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CappedCount {
    pub count: u32,
    /// Whether there are, or may be, more deliveries.
    pub has_more: bool,
}

impl CappedCount {
    /// Creates the count of `found` deliveries, limited to `max_count`. `is_partial` means that some deliveries were
    /// not examined.
    pub fn new(found: usize, max_count: u32, is_partial: bool) -> Self {
        let count = u32::try_from(found).unwrap_or(u32::MAX);
        Self { count: count.min(max_count), has_more: count > max_count || is_partial }
    }
}

/// Whether a failed delivery of the entry is never replayed: true for events that require the bot's reaction and for
/// phone calls.
pub fn is_never_replayed(entry: &TimelineEntry) -> bool {
    awaits_bot_reaction(entry) || entry.delivery.as_ref().is_some_and(|delivery| delivery.target == Target::Call)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SortOrder {
    NewestFirst,
    /// The order that replays use, so that receivers get a chat's messages in their original order.
    OldestFirst,
}

/// A position in the delivery log: the last entry that was examined for a page. The next page continues after this
/// entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeliveryCursor {
    /// The time of the entry if the log is read in chronological order. `None` if the log is read chat by chat.
    pub at: Option<Timestamp>,
    pub chat_id: u64,
    pub seq: u64,
}

impl DeliveryCursor {
    pub fn to_text(self) -> String {
        let Self { at, chat_id, seq } = self;
        at.map_or_else(|| format!("{chat_id}-{seq}"), |at| format!("{}-{chat_id}-{seq}", at.0))
    }

    pub fn parse(text: &str) -> Option<Self> {
        let numbers: Option<Vec<u64>> = text.split('-').map(parse_canonical_number).collect();
        match *numbers?.as_slice() {
            [chat_id, seq] => Some(Self { at: None, chat_id, seq }),
            [at, chat_id, seq] => Some(Self { at: Some(Timestamp(at)), chat_id, seq }),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplayScope {
    /// An agent sends one failed message to the visitor again.
    MessageToVisitor,
    /// An admin replays all failed deliveries that match a filter.
    AllFailed,
    /// An admin replays a single delivery. Even a delivery that has succeeded can be replayed, because the receiver may
    /// have lost the message.
    Single,
}

impl ReplayScope {
    /// Returns the reason why the delivery of an entry cannot be replayed now, or `None` if it can be replayed.
    pub fn replay_obstacle(self, entry: &TimelineEntry, now: Timestamp) -> Option<&'static str> {
        let Some(delivery) = &entry.delivery else { return Some("the entry has no receiver") };
        if entry.is_expired(now) {
            return Some("its retention period is over");
        }
        match (self, delivery.visible_state(now)) {
            (Self::MessageToVisitor, DeliveryState::Failed) if delivery.target == Target::Channel => None,
            (Self::MessageToVisitor, _) => Some("only a failed message can be sent again"),
            _ if awaits_bot_reaction(entry) => Some("an entry that a bot had to react to cannot be sent again"),
            _ if delivery.target == Target::Call => Some("a call cannot be placed again"),
            (Self::AllFailed | Self::Single, DeliveryState::Failed) | (Self::Single, DeliveryState::Delivered) => None,
            (Self::AllFailed | Self::Single, DeliveryState::Pending) => Some("it is still being delivered"),
            (Self::AllFailed, DeliveryState::Delivered) => Some("it has not failed"),
            (Self::AllFailed | Self::Single, DeliveryState::Superseded) => Some("it is no longer to be sent"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::domain::bots::bot::BotNotification;
    use crate::domain::channels::channel::ChannelKind;
    use crate::domain::chats::chat::{BotAnswers, Sender};
    use crate::domain::chats::chat_assignment::ChatAssignment;
    use crate::domain::chats::chat_state::ChatState;
    use crate::domain::chats::message_content::Content;
    use crate::domain::chats::message_receipt::ReceiptTimes;
    use crate::domain::deliveries::delivery::Delivery;
    use crate::domain::time_zone::{Day, TimeZone};

    fn at(seconds: u64) -> Timestamp {
        Timestamp(1_000_000 + seconds * 1_000)
    }

    fn chat(state: ChatState) -> Chat {
        Chat {
            account_id: "acc".into(),
            chat_id: 1,
            state,
            version: 1,
            channel_id: "CH".into(),
            channel_kind: ChannelKind::Api,
            channel_name: String::new(),
            external_id: "v".into(),
            has_numeric_id: false,
            invite_hash: None,
            visitor_number: 1,
            visitor_name: String::new(),
            participants: Vec::new(),
            bot_id: None,
            former_bots: Vec::new(),
            given_to_bot_at: None,
            visitor_seq: 0,
            bot_answers: BotAnswers::default(),
            bot_event_at: None,
            repeated_to_bot: None,
            handover: None,
            seq: 9,
            opened_at: at(0),
            opened_on: Day::of(at(0), &TimeZone::default()),
            first_answer_at: None,
            agent_joined_at: None,
            closed_at: None,
            updated_at: at(100),
            other_change_at: None,
            last_message: None,
            waiting_since: None,
            typing_started_at: None,
            typing_text: None,
            failing_until: BTreeMap::new(),
            undelivered: Vec::new(),
            rating: None,
            tag_ids: Vec::new(),
            snooze: None,
            mentions: Vec::new(),
            assignment: ChatAssignment::default(),
            answer_due: None,
            messages_changed_at: None,
            planned: 0,
            department: None,
            retention_days: None,
            previous_chats: Vec::new(),
        }
    }

    fn entry(from: Sender, target: Target, state: DeliveryState) -> TimelineEntry {
        let result_visible_at = (state == DeliveryState::Failed).then(|| at(59));
        TimelineEntry {
            account_id: "acc".into(),
            chat_id: 1,
            seq: 3,
            id: "id".into(),
            from,
            content: Content::text("hi"),
            at: at(50),
            caused_by: None,
            webhook_dispatch: None,
            receipt: ReceiptTimes::default(),
            edited_at: None,
            deleted_at: None,
            retain_until: None,
            delivery: Some(Delivery { state, result_visible_at, ..Delivery::new(target, at(50)) }),
        }
    }

    #[test]
    fn filter_matches_on_every_field() {
        let failed = entry(Sender::System, Target::Webhook, DeliveryState::Failed);
        let all = DeliveryFilter::all(DeliveryState::Failed);
        let channel = |id: &str| Some(id.to_owned());
        let table = [
            (all.clone(), true),
            (DeliveryFilter::all(DeliveryState::Pending), false),
            (DeliveryFilter { target: Some(Target::Webhook), ..all.clone() }, true),
            (DeliveryFilter { target: Some(Target::Bot), ..all.clone() }, false),
            (DeliveryFilter { channel_id: channel("CH"), ..all.clone() }, true),
            (DeliveryFilter { channel_id: channel("other"), ..all.clone() }, false),
            (DeliveryFilter { from: at(50), to: at(50), ..all.clone() }, true),
            (DeliveryFilter { from: at(51), ..all.clone() }, false),
            (DeliveryFilter { to: at(49), ..all.clone() }, false),
        ];
        for (filter, expected) in table {
            assert_eq!(filter.matches(&chat(ChatState::Waiting), &failed, at(60)), expected, "{filter:?}");
        }
        assert!(!all.matches(&chat(ChatState::Waiting), &failed, at(58)), "the failure is not visible yet");
        assert!(DeliveryFilter::all(DeliveryState::Pending).matches(&chat(ChatState::Waiting), &failed, at(58)));
        let without_delivery = TimelineEntry { delivery: None, ..failed };
        assert!(!all.matches(&chat(ChatState::Waiting), &without_delivery, at(60)));
    }

    #[test]
    fn chats_outside_the_time_range_are_skipped() {
        let all = DeliveryFilter::all(DeliveryState::Failed);
        let (closed, open) = (chat(ChatState::Closed(None)), chat(ChatState::Waiting));
        let table = [
            (&all, true, true),
            (&DeliveryFilter { from: at(159), ..all.clone() }, true, true),
            (&DeliveryFilter { from: at(161), ..all.clone() }, false, true),
            (&DeliveryFilter { to: at(0), ..all.clone() }, true, true),
            (&DeliveryFilter { to: Timestamp(900_000), ..all.clone() }, false, false),
            (&DeliveryFilter { channel_id: Some("other".into()), ..all.clone() }, false, false),
        ];
        for (filter, in_closed, in_open) in table {
            assert_eq!(
                (filter.may_match_chat(&closed), filter.may_match_chat(&open)),
                (in_closed, in_open),
                "{filter:?}"
            );
        }
    }

    #[test]
    fn cursor_round_trips_through_text() {
        let (by_chat, by_time) =
            (DeliveryCursor { at: None, chat_id: 7, seq: 3 }, DeliveryCursor { at: Some(at(1)), chat_id: 7, seq: 3 });
        for cursor in [by_chat, by_time] {
            assert_eq!(DeliveryCursor::parse(&cursor.to_text()), Some(cursor));
        }
        for text in ["", "-", "7", "7-", "x-3", "7-+3", "1-2-3-4", "7-3 ", "99999999999999999999-1"] {
            assert_eq!(DeliveryCursor::parse(text), None, "{text}");
        }
    }

    #[test]
    fn replay_scope_limits_deliveries() {
        use DeliveryState::{Delivered, Failed, Pending, Superseded};
        let message = |state| entry(Sender::Bot("b".into()), Target::Channel, state);
        let notice = |state| entry(Sender::System, Target::Bot, state);
        let visitor_message = |state| entry(Sender::Visitor, Target::Bot, state);
        // The last column lists whether each scope allows a replay, in the order MessageToVisitor, AllFailed, Single.
        let table = [
            (message(Failed), [true, true, true]),
            (message(Delivered), [false, false, true]),
            (message(Pending), [false, false, false]),
            (notice(Failed), [false, true, true]),
            (notice(Delivered), [false, false, true]),
            (notice(Superseded), [false, false, false]),
            (visitor_message(Failed), [false, false, false]),
            (visitor_message(Delivered), [false, false, false]),
            (
                TimelineEntry {
                    content: Content::bot_notification(BotNotification::AgentUnavailable),
                    ..notice(Failed)
                },
                [false; 3],
            ),
            (entry(Sender::Visitor, Target::Call, Failed), [false; 3]),
            (TimelineEntry { delivery: None, ..message(Failed) }, [false, false, false]),
        ];
        for (entry, expected) in table {
            let is_allowed = [ReplayScope::MessageToVisitor, ReplayScope::AllFailed, ReplayScope::Single]
                .map(|scope| scope.replay_obstacle(&entry, at(60)).is_none());
            assert_eq!(is_allowed, expected, "{entry:?}");
        }
        let replay_obstacle = ReplayScope::Single.replay_obstacle(&message(Failed), at(58));
        assert_eq!(replay_obstacle, Some("it is still being delivered"), "the failure is not visible yet");
    }
}
