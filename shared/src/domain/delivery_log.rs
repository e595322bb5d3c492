//! The ledger of deliveries: which of them an admin asks for, where a page of them ends, and which may begin anew.

use crate::domain::bot::BotNotice;
use crate::domain::chat::{Chat, Sender};
use crate::domain::content::Kind;
use crate::domain::delivery::{Delivery, DeliveryState, Target};
use crate::domain::entry::Entry;
use crate::domain::timestamp::Timestamp;

/// How far clocks may differ, and how long a request may take between asking the time and writing it.
const CLOCK_TOLERANCE: std::time::Duration = std::time::Duration::from_secs(60);

/// Which deliveries are asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// How far they are.
    pub state: DeliveryState,
    /// Whose server receives them; none for any.
    pub target: Option<Target>,
    /// Of which channel's chats; none for any.
    pub channel_id: Option<String>,
    /// The first moment at which the message or event was made.
    pub from: Timestamp,
    /// The last one.
    pub to: Timestamp,
}

impl Wanted {
    /// Every delivery of that progress.
    pub fn all(state: DeliveryState) -> Self {
        Self { state, target: None, channel_id: None, from: Timestamp(0), to: Timestamp(u64::MAX) }
    }

    /// Whether an entry of a chat is one of them now.
    pub fn takes(&self, chat: &Chat, entry: &Entry, now: Timestamp) -> bool {
        let Some(delivery) = &entry.delivery else { return false };
        delivery.shown_progress(now) == self.state
            && self.target.is_none_or(|target| target == delivery.target)
            && self.takes_channel(chat)
            && (self.from..=self.to).contains(&entry.at)
            && !entry.is_expired(now)
    }

    /// Whether one of them may be in a chat. Nothing happens in a chat before it is opened or after it is closed; the
    /// time of an open chat's last message says nothing about the events of its webhooks.
    pub fn may_be_in(&self, chat: &Chat) -> bool {
        let ended_before = chat.state.is_closed() && chat.updated_at.after(CLOCK_TOLERANCE) < self.from;
        self.takes_channel(chat) && !ended_before && chat.opened_at <= self.to.after(CLOCK_TOLERANCE)
    }

    fn takes_channel(&self, chat: &Chat) -> bool {
        self.channel_id.as_ref().is_none_or(|channel_id| *channel_id == chat.channel_id)
    }
}

/// Which way the ledger is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// As an admin reads it.
    NewestFirst,
    /// As it is sent again: receivers get a chat in the order in which it was written.
    OldestFirst,
}

/// The last place of the ledger that a page looked at. As text it is the page's cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// When the entry was made, where the ledger is read in that order; none where it is read chat by chat.
    pub at: Option<Timestamp>,
    /// The chat.
    pub chat_id: u64,
    /// The entry's number.
    pub seq: u64,
}

impl Place {
    /// The place as a cursor.
    pub fn to_text(self) -> String {
        let Self { at, chat_id, seq } = self;
        at.map_or_else(|| format!("{chat_id}-{seq}"), |at| format!("{}-{chat_id}-{seq}", at.0))
    }

    /// The place that a cursor holds.
    pub fn parse(text: &str) -> Option<Self> {
        let numbers: Option<Vec<u64>> = text.split('-').map(whole).collect();
        match *numbers?.as_slice() {
            [chat_id, seq] => Some(Self { at: None, chat_id, seq }),
            [at, chat_id, seq] => Some(Self { at: Some(Timestamp(at)), chat_id, seq }),
            _ => None,
        }
    }
}

/// Digits alone: the library's own parser also takes a sign.
fn whole(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

/// Who begins a delivery anew, and so what it may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// An agent: a message to the visitor that failed.
    Message,
    /// An admin, of many: what failed.
    Failed,
    /// An admin, this one: also what was delivered, to a receiver that lost it.
    One,
}

impl Retry {
    /// Why a delivery may not begin anew now.
    pub fn refusal(self, entry: &Entry, now: Timestamp) -> Option<&'static str> {
        let Some(delivery) = &entry.delivery else { return Some("it goes to nobody's server") };
        if entry.is_expired(now) {
            return Some("it is over, as the account's retention says");
        }
        match (self, delivery.shown_progress(now)) {
            (Self::Message, DeliveryState::Failed) if delivery.target == Target::Channel => None,
            (Self::Message, _) => Some("only a failed message can be sent again"),
            _ if waits_for_bot(entry) => Some("what a bot was to react to is not sent again"),
            (Self::Failed | Self::One, DeliveryState::Failed) | (Self::One, DeliveryState::Delivered) => None,
            (Self::Failed | Self::One, DeliveryState::Pending) => Some("it is still being delivered"),
            (Self::Failed, DeliveryState::Delivered) => Some("it has not failed"),
            (Self::Failed | Self::One, DeliveryState::Superseded) => Some("it is not wanted any more"),
        }
    }
}

/// Whether the chat waits for what a bot makes of an entry: a visitor's message, or the news that no agent is there. Once
/// it has a verdict it is of no use to the bot: where it failed, the agents have the chat.
pub fn waits_for_bot(entry: &Entry) -> bool {
    let is_asked = entry.from == Sender::Visitor || entry.content.kind == Kind::BotNotice(BotNotice::AgentUnavailable);
    is_asked && entry.delivery.as_ref().is_some_and(|delivery| delivery.target == Target::Bot)
}

/// Since when an event of the bot counts as its reaction to an entry that [waits for it](waits_for_bot): since the first
/// attempt began, or, while none is recorded, since the entry was made.
pub fn unanswered_since(entry: &Entry) -> Timestamp {
    began_at(entry).unwrap_or(entry.at)
}

/// What such an event makes of the delivery: accepted when an attempt had begun, else not needed any more.
pub fn after_bot_event(entry: &Entry) -> DeliveryState {
    if began_at(entry).is_some() { DeliveryState::Delivered } else { DeliveryState::Superseded }
}

fn began_at(entry: &Entry) -> Option<Timestamp> {
    entry.delivery.as_ref().and_then(Delivery::began_at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::chat::Failing;
    use crate::domain::chat_state::State;
    use crate::domain::content::Content;
    use crate::domain::delivery::Delivery;
    use crate::domain::rate::Window;

    fn at(seconds: u64) -> Timestamp {
        Timestamp(1_000_000 + seconds * 1_000)
    }

    /// Of the channel CH, opened at 0 seconds, last written in at 100.
    fn chat(state: State) -> Chat {
        Chat {
            account_id: "acc".into(),
            chat_id: 1,
            state,
            version: 1,
            channel_id: "CH".into(),
            channel_name: String::new(),
            external_id: "v".into(),
            has_numeric_id: false,
            invite_hash: None,
            visitor_number: 1,
            visitor_name: String::new(),
            participants: Vec::new(),
            bot_id: None,
            bot_event_at: None,
            seq: 9,
            opened_at: at(0),
            updated_at: at(100),
            last_message: None,
            typing_since: None,
            failing: Failing::default(),
            rate: Window { since: at(0), count: 1 },
            rating: None,
            department: None,
            keep_days: None,
        }
    }

    /// Made at 50 seconds.
    fn entry(from: Sender, target: Target, state: DeliveryState) -> Entry {
        let verdict_at = (state == DeliveryState::Failed).then(|| at(59));
        Entry {
            account_id: "acc".into(),
            chat_id: 1,
            seq: 3,
            id: "id".into(),
            from,
            content: Content::text("hi"),
            at: at(50),
            occurrence: None,
            keep_until: None,
            delivery: Some(Delivery { state, verdict_at, ..Delivery::new(target, at(50)) }),
        }
    }

    #[test]
    fn each_part_of_a_question_leaves_others_out() {
        let failed = entry(Sender::System, Target::Webhook, DeliveryState::Failed);
        let all = Wanted::all(DeliveryState::Failed);
        let channel = |id: &str| Some(id.to_owned());
        let table = [
            (all.clone(), true),
            (Wanted::all(DeliveryState::Pending), false),
            (Wanted { target: Some(Target::Webhook), ..all.clone() }, true),
            (Wanted { target: Some(Target::Bot), ..all.clone() }, false),
            (Wanted { channel_id: channel("CH"), ..all.clone() }, true),
            (Wanted { channel_id: channel("other"), ..all.clone() }, false),
            (Wanted { from: at(50), to: at(50), ..all.clone() }, true),
            (Wanted { from: at(51), ..all.clone() }, false),
            (Wanted { to: at(49), ..all.clone() }, false),
        ];
        for (wanted, expected) in table {
            assert_eq!(wanted.takes(&chat(State::Waiting), &failed, at(60)), expected, "{wanted:?}");
        }
        assert!(!all.takes(&chat(State::Waiting), &failed, at(58)), "it is shown as pending");
        assert!(Wanted::all(DeliveryState::Pending).takes(&chat(State::Waiting), &failed, at(58)));
        let silent = Entry { delivery: None, ..failed };
        assert!(!all.takes(&chat(State::Waiting), &silent, at(60)));
    }

    #[test]
    fn a_chat_that_was_over_before_or_opened_after_is_not_looked_through() {
        let all = Wanted::all(DeliveryState::Failed);
        let (closed, open) = (chat(State::Closed(None)), chat(State::Waiting));
        let table = [
            (&all, true, true),
            (&Wanted { from: at(159), ..all.clone() }, true, true),
            (&Wanted { from: at(161), ..all.clone() }, false, true),
            (&Wanted { to: at(0), ..all.clone() }, true, true),
            (&Wanted { to: Timestamp(900_000), ..all.clone() }, false, false),
            (&Wanted { channel_id: Some("other".into()), ..all.clone() }, false, false),
        ];
        for (wanted, in_closed, in_open) in table {
            assert_eq!((wanted.may_be_in(&closed), wanted.may_be_in(&open)), (in_closed, in_open), "{wanted:?}");
        }
    }

    #[test]
    fn a_cursor_leads_back_to_its_place() {
        let (walked, timed) = (Place { at: None, chat_id: 7, seq: 3 }, Place { at: Some(at(1)), chat_id: 7, seq: 3 });
        for place in [walked, timed] {
            assert_eq!(Place::parse(&place.to_text()), Some(place));
        }
        for text in ["", "-", "7", "7-", "x-3", "7-+3", "1-2-3-4", "7-3 ", "99999999999999999999-1"] {
            assert_eq!(Place::parse(text), None, "{text}");
        }
    }

    #[test]
    fn what_may_begin_anew() {
        use DeliveryState::{Delivered, Failed, Pending, Superseded};
        let message = |state| entry(Sender::Bot("b".into()), Target::Channel, state);
        let notice = |state| entry(Sender::System, Target::Bot, state);
        let asked = |state| entry(Sender::Visitor, Target::Bot, state);
        // For an agent, for an admin of many, for an admin of this one.
        let table = [
            (message(Failed), [true, true, true]),
            (message(Delivered), [false, false, true]),
            (message(Pending), [false, false, false]),
            (notice(Failed), [false, true, true]),
            (notice(Delivered), [false, false, true]),
            (notice(Superseded), [false, false, false]),
            (asked(Failed), [false, false, false]),
            (asked(Delivered), [false, false, false]),
            (
                Entry { content: Content::happened(Kind::BotNotice(BotNotice::AgentUnavailable)), ..notice(Failed) },
                [false; 3],
            ),
            (Entry { delivery: None, ..message(Failed) }, [false, false, false]),
        ];
        for (entry, expected) in table {
            let may = [Retry::Message, Retry::Failed, Retry::One].map(|retry| retry.refusal(&entry, at(60)).is_none());
            assert_eq!(may, expected, "{entry:?}");
        }
        let refusal = Retry::One.refusal(&message(Failed), at(58));
        assert_eq!(refusal, Some("it is still being delivered"), "its failure is not shown yet");
    }
}
