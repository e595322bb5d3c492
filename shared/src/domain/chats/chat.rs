//! The header of a chat: the item that stores its state, owner and counters. Every message in the chat updates the
//! header. The states and the transitions between them are defined in [`chat_state`](super::chat_state).

use std::collections::BTreeMap;

use crate::domain::accounts::agent::AgentSnapshot;
use crate::domain::accounts::department::ChatDepartment;
use crate::domain::channels::channel::ChannelKind;
use crate::domain::chats::answer_timer::AnswerDue;
use crate::domain::chats::bot_handover::BotHandover;
use crate::domain::chats::chat_assignment::{ChatAssignment, SlotClaim};
use crate::domain::chats::chat_change::Snooze;
use crate::domain::chats::chat_state::{ChatEvent, ChatState, TransitionError};
use crate::domain::chats::mention::Mention;
use crate::domain::chats::message_content::Content;
use crate::domain::deliveries::delivery::{Delivery, Target};
use crate::domain::named::named;
use crate::domain::time_zone::Day;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;

/// How long a visitor counts as typing after a `typein` notice if no `typeout` follows.
const VISITOR_TYPING_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(30);
pub const DAY: std::time::Duration = std::time::Duration::from_secs(24 * 60 * 60);
/// The maximum length of the preview text. It helps to keep the header below 1 KB, because every message in the chat
/// rewrites the header and DynamoDB charges for each started KB.
const MAX_PREVIEW_CHARS: usize = 80;
/// The maximum length, in characters, of the visitor's name and the channel's name in a chat's header.
pub const MAX_HEADER_NAME_CHARS: usize = 60;
/// The maximum number of agents whose ids the header stores. The number is limited because every message in the chat
/// rewrites the header.
const MAX_PARTICIPANTS: usize = 30;
/// The maximum number of former bots that the header stores. The number is limited because every message in the chat
/// rewrites the header.
const MAX_FORMER_BOTS: usize = 5;
/// The maximum number of undelivered messages that the header stores. The number is limited because every message in
/// the chat rewrites the header.
pub const MAX_UNDELIVERED: usize = 100;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sender {
    Visitor,
    Agent(AgentSnapshot),
    /// A bot with this name.
    Bot(String),
    /// The service itself. It is the sender of the notifications for bots and webhooks.
    System,
}

impl Sender {
    /// Returns the name of this value in the APIs and in stored items.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Visitor => "visitor",
            Self::Agent(_) => "agent",
            Self::Bot(_) => "bot",
            Self::System => "system",
        }
    }
}

/// A shortened message that is shown in lists of chats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessagePreview {
    /// The kind of sender, as returned by [`Sender::name`].
    pub from: String,
    /// The id of the agent who wrote the message. `None` if the visitor or a bot wrote it, and for messages that an
    /// earlier version of the service stored.
    pub agent_id: Option<u64>,
    pub kind: String,
    pub text: String,
    pub at: Timestamp,
}

impl MessagePreview {
    pub fn of(content: &Content, from: &Sender, at: Timestamp) -> Self {
        Self {
            from: from.name().to_owned(),
            agent_id: match from {
                Sender::Agent(agent) => Some(agent.agent_id),
                Sender::Visitor | Sender::Bot(_) | Sender::System => None,
            },
            kind: content.name().to_owned(),
            text: content.preview(MAX_PREVIEW_CHARS),
            at,
        }
    }
}

named! {
    /// A visitor's rating of a chat (specification, table C1, `rate`).
    pub enum Rating {
        Positive = "positive",
        Negative = "negative",
    }
}

/// A bot that had the chat before the chat was given to another bot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormerBot {
    pub bot_id: String,
    /// The number of the last entry that was stored before the chat was given to the next bot.
    pub until_seq: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chat {
    pub account_id: String,
    /// A sequential number within the account, starting at 1.
    pub chat_id: u64,
    pub state: ChatState,
    /// The number of transitions so far. A chat can return to an earlier state, but never to an earlier version.
    pub version: u64,
    pub channel_id: String,
    pub channel_kind: ChannelKind,
    /// The name that the channel had when the chat was opened.
    pub channel_name: String,
    /// The visitor's `sender.id`, as text.
    pub external_id: String,
    /// Whether `sender.id` was a JSON number in the visitor's last message. `recipient.id` is sent with the same JSON
    /// type.
    pub has_numeric_id: bool,
    /// The hash of the invitation text that the visitor accepted; see
    /// [`Panel::invite`](super::chat_side_panel::Panel::invite). `None` if there was no invitation.
    pub invite_hash: Option<String>,
    /// The sequential number of the visitor within the account.
    pub visitor_number: u64,
    /// The visitor's name, truncated.
    pub visitor_name: String,
    /// The chat's most recent department. It is kept when an agent accepts the chat. `None` if the chat has never had a
    /// department.
    pub department: Option<ChatDepartment>,
    /// The ids of the agents who accepted the chat, received it in a transfer, or closed it, in the order in which they
    /// joined. Only the 30 agents who joined most recently are stored.
    pub participants: Vec<u64>,
    /// The bot that the chat started with, or the one that an agent gave it to last. `None` if the chat has never had a
    /// bot. The value is kept when the chat is handed over to the agents.
    pub bot_id: Option<String>,
    /// The bots that had the chat before `bot_id`, oldest first. Only the last five are stored.
    pub former_bots: Vec<FormerBot>,
    /// When an agent last gave the chat to a bot. `None` if no agent has. Time limits that began earlier are void.
    pub given_to_bot_at: Option<Timestamp>,
    /// The number of the visitor's last message; 0 if there is none, or if an earlier version of the service stored it.
    pub visitor_seq: u64,
    pub bot_answers: BotAnswers,
    /// The time of the last BOT_MESSAGE or INVITE_AGENT event that the bot sent. A message that the visitor's channel
    /// cannot show does not count. `None` before the first one.
    pub bot_event_at: Option<Timestamp>,
    /// The number of a visitor's message that is sent to the bot again, because an attempt failed. The bot may then
    /// answer it twice. `None` if there was no such message since the visitor last wrote.
    pub repeated_to_bot: Option<u64>,
    /// How the bot's chat was last handed over to the agents. `None` if it was not handed over, or has returned to a
    /// bot since.
    pub handover: Option<BotHandover>,
    /// The sequence number of the last timeline entry. Numbers can be skipped, but no number is used twice.
    pub seq: u64,
    pub opened_at: Timestamp,
    /// The day on which the chat was opened, in the account's time zone at that time. Reports count the chat on this
    /// day.
    pub opened_on: Day,
    /// When the first message from an agent was stored. `None` before that. For a chat that is older than the report
    /// counters, this is the time at which the chat was opened, so that no later message is counted as the first
    /// answer.
    pub first_answer_at: Option<Timestamp>,
    /// When the chat's agent got the chat. `None` if no agent has it, or if an earlier version of the service stored
    /// the transition.
    pub agent_joined_at: Option<Timestamp>,
    /// `None` while the chat is open, and in chats that were closed before this attribute was introduced.
    pub closed_at: Option<Timestamp>,
    /// The time of the last message, call event or transition. Notes and other webhook events do not count.
    pub updated_at: Timestamp,
    /// The time of the last change that lists of chats report but that did not set `updated_at`: a note, a correction
    /// of the visitor's name, or a webhook event other than a call event. `None` if there was no such change. Typing
    /// notices and ratings do not count.
    pub other_change_at: Option<Timestamp>,
    pub last_message: Option<MessagePreview>,
    /// When an agent last edited or deleted a message. `None` if no agent has.
    pub messages_changed_at: Option<Timestamp>,
    /// The number of planned messages that nothing has begun to send; see
    /// [`PlannedMessage`](super::planned_message::PlannedMessage).
    pub planned: u32,
    /// When the visitor started waiting for an agent. `None` unless the chat is waiting.
    pub waiting_since: Option<Timestamp>,
    pub typing_started_at: Option<Timestamp>,
    /// What the visitor of a widget is writing. `None` if the text is not known. The text applies only while
    /// [`is_visitor_typing`](Self::is_visitor_typing) returns true.
    pub typing_text: Option<String>,
    /// The times until which the integrator of the chat's channel and the chat's bot count as failing. While a receiver
    /// is failing, first attempts to it use the retry queue instead of the FIFO queue, so that they do not block the
    /// next messages of the chat. Other receivers are not marked as failing: each webhook has its own message groups in
    /// the queue, so a failing webhook does not delay other receivers, and a chat has only a few webhook events and
    /// calls.
    pub failing_until: BTreeMap<Target, Timestamp>,
    /// The numbers of the agents' messages that could not be delivered to the visitor and have not been delivered by a
    /// replay since. At most [`MAX_UNDELIVERED`] are stored.
    pub undelivered: Vec<u64>,
    pub rating: Option<Rating>,
    /// The numbers of the account's tags that agents have put on the chat, in this order. At most
    /// [`MAX_TAGS_PER_CHAT`](crate::domain::chats::chat_change::MAX_TAGS_PER_CHAT). Tags can have been deleted since.
    pub tag_ids: Vec<u64>,
    /// Any transition removes it. It may be over; see [`snoozed_until`](Self::snoozed_until).
    pub snooze: Option<Snooze>,
    /// The agents whom notes mention, those mentioned last at the end.
    pub mentions: Vec<Mention>,
    pub assignment: ChatAssignment,
    /// The answer that agents owe the visitor; see [`owed_answer`](Self::owed_answer).
    pub answer_due: Option<AnswerDue>,
    /// The account's retention period in days, copied into the chat. `None` means that the chat never expires.
    pub retention_days: Option<u32>,
    /// The visitor's last chats before this one, newest first and at most ten; see
    /// [`Visitor::start_chat`](crate::domain::visitors::visitor::Visitor::start_chat).
    pub previous_chats: Vec<u64>,
}

/// What became of the answers of the chat's bots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BotAnswers {
    /// The number of answers that were refused because the visitor had written since.
    pub superseded: u64,
    /// The number of the visitor's last message when the visitor stopped the answer to it. 0 if no answer was stopped,
    /// or if the bot has answered since.
    pub stopped_seq: u64,
}

impl Chat {
    /// Returns the chat after a transition to `state`. If the new state has an agent, this agent becomes a participant.
    pub fn after_transition(&self, state: ChatState, now: Timestamp) -> Self {
        let waiting_since = state.is_waiting().then(|| self.waiting_since.unwrap_or(now));
        let version = self.version + 1;
        let agent_joined_at = match (self.state.agent(), state.agent()) {
            (Some(before), Some(after)) if before.agent_id == after.agent_id => self.agent_joined_at,
            (_, Some(_)) => Some(now),
            (_, None) => None,
        };
        let closed_at = state.is_closed().then_some(now);
        let is_with_bot = state == ChatState::Bot;
        let handover = self.handover.clone().filter(|_| !is_with_bot);
        let assignment = self.assignment.after_transition(&state);
        let mut after = Self {
            // The time limit for accepting the chat ends with any transition.
            handover: handover.map(|handover| BotHandover { return_at: None, ..handover }),
            state,
            version,
            agent_joined_at,
            closed_at,
            updated_at: now,
            waiting_since,
            typing_started_at: None,
            typing_text: None,
            snooze: None,
            assignment,
            ..self.clone()
        };
        if let Some(agent_id) = after.state.agent().map(|agent| agent.agent_id) {
            after.add_participant(agent_id);
        }
        after
    }

    /// Lets the chat take a slot of its agent, if there is a claim and an agent.
    pub fn claim_slot(&mut self, claim: Option<&SlotClaim>) {
        if let (Some(_), ChatState::Active(agent)) = (claim, &self.state) {
            self.assignment.slot_of = Some(agent.agent_id);
        }
    }

    /// Fails if another agent than this one must accept the chat first.
    pub fn require_not_offered_to_other(&self, agent_id: u64, now: Timestamp) -> Result<(), TransitionError> {
        let offer = self.assignment.current_offer(now);
        if offer.is_some_and(|offer| offer.agent_id != agent_id) {
            return Err(TransitionError::OfferedToOther);
        }
        Ok(())
    }

    /// Returns the visitor's id in the integrator's system. `None` for a chat of a widget, which has no integrator.
    pub fn integrators_id(&self) -> Option<&str> {
        match self.channel_kind {
            ChannelKind::Api => Some(&self.external_id),
            ChannelKind::Widget => None,
        }
    }

    pub fn changed_at(&self) -> Timestamp {
        self.other_change_at.map_or(self.updated_at, |at| at.max(self.updated_at))
    }

    /// Returns the time at which an entry written at `at` expires. `None` means that the entry never expires. An entry
    /// that is written after the chat was closed expires together with the chat.
    pub fn retain_until(&self, at: Timestamp) -> Option<Timestamp> {
        let start = if self.state.is_closed() { at.min(self.updated_at) } else { at };
        self.retention_days.map(|days| start.plus(DAY * days))
    }

    /// Returns whether the chat is closed and its retention period is over. Readers must check this, because the table
    /// deletes expired items with a delay.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.state.is_closed() && self.retain_until(self.updated_at).is_some_and(|until| until <= now)
    }

    /// Removes the message preview if the retention period of the last message is over, and what the bot told the
    /// agents if the retention period of the handover is over.
    pub fn without_expired_preview(mut self, now: Timestamp) -> Self {
        let is_expired = |last: &MessagePreview| self.retain_until(last.at).is_some_and(|until| until <= now);
        if self.last_message.as_ref().is_some_and(is_expired) {
            self.last_message = None;
        }
        if let Some(handover) = self.handover.take() {
            let is_over = self.retain_until(handover.at).is_some_and(|until| until <= now);
            self.handover = Some(if is_over { handover.without_details() } else { handover });
        }
        self
    }

    /// Returns the delivery of a new message from an agent or a bot. Returns `None` for a widget's chat: the message
    /// only needs to be stored, because the visitor's browser reads it.
    pub fn delivery_to_visitor(&self, now: Timestamp) -> Option<Delivery> {
        match self.channel_kind {
            ChannelKind::Api => Some(Delivery::new(Target::Channel, now)),
            ChannelKind::Widget => None,
        }
    }

    /// Gives the chat to a bot. The number of the last entry of the former bot is `seq`.
    pub fn set_bot(&mut self, bot_id: &str, now: Timestamp) {
        self.given_to_bot_at = Some(now);
        let former = self.bot_id.replace(bot_id.to_owned()).filter(|former| former != bot_id);
        if let Some(former) = former {
            self.former_bots.push(FormerBot { bot_id: former, until_seq: self.seq });
        }
        if self.former_bots.len() > MAX_FORMER_BOTS {
            self.former_bots.remove(0);
        }
    }

    /// Returns the bot that gets an entry with this number if the entry is for a bot. `None` if the chat has no bot.
    pub fn bot_of_entry(&self, seq: u64) -> Option<&str> {
        let former = self.former_bots.iter().find(|former| seq <= former.until_seq);
        former.map(|former| &*former.bot_id).or(self.bot_id.as_deref())
    }

    /// Fails if this is not the chat's bot. Does not check whether the bot or an agent has the chat.
    pub fn require_bot(&self, bot_id: &str) -> Result<(), TransitionError> {
        if self.bot_id.as_deref() == Some(bot_id) { Ok(()) } else { Err(TransitionError::NotWithBot) }
    }

    /// Fails with `NotFound` for a bot that never had the chat, and with `Forbidden` for one that does not have it now.
    pub fn require_owned_by_bot(&self, bot_id: &str) -> Result<(), Error> {
        if !self.has_or_had_bot(bot_id) {
            return Err(Error::NotFound);
        }
        self.require_bot(bot_id)?;
        self.state.after_event(ChatEvent::BotWrites)?;
        Ok(())
    }

    /// Whether the visitor has stopped the answer to his last message.
    pub fn is_answer_stopped(&self) -> bool {
        self.bot_answers.stopped_seq > 0 && self.bot_answers.stopped_seq == self.visitor_seq
    }

    /// Fails if the visitor has written after the message with this number.
    pub fn require_answer_to_last(&self, reply_to_seq: Option<u64>) -> Result<(), Error> {
        if reply_to_seq.is_some_and(|seq| seq < self.visitor_seq) { Err(Error::Superseded) } else { Ok(()) }
    }

    /// Whether this bot has the chat, had it before the agents, or was replaced by another bot.
    pub fn has_or_had_bot(&self, bot_id: &str) -> bool {
        let current = self.bot_id.as_deref().into_iter();
        current.chain(self.former_bots.iter().map(|former| &*former.bot_id)).any(|id| id == bot_id)
    }

    pub fn add_participant(&mut self, agent_id: u64) {
        if self.participants.contains(&agent_id) {
            return;
        }
        if self.participants.len() >= MAX_PARTICIPANTS {
            self.participants.remove(0);
        }
        self.participants.push(agent_id);
    }

    /// When the chat returns to its bot if no agent accepts it. `None` if the bot has no time limit.
    pub fn return_at(&self) -> Option<Timestamp> {
        self.handover.as_ref().and_then(|handover| handover.return_at)
    }

    /// Whether the chat waits for an agent whom its bot has invited, and the time limit for accepting it is over.
    pub fn is_agent_wait_over(&self, now: Timestamp) -> bool {
        self.state.is_waiting() && self.return_at().is_some_and(|return_at| return_at <= now)
    }

    /// When something happens in the chat by itself: the wait for an agent or an offer ends, or an answer is due soon.
    pub fn timer_due_at(&self) -> Option<Timestamp> {
        let offer_ends_at = self.assignment.offer.map(|offer| offer.until);
        let answer_due_at = self.owed_answer().filter(|due| !due.is_announced).map(|due| due.soon_at);
        [self.return_at(), offer_ends_at, answer_due_at].into_iter().flatten().min()
    }

    /// Whether an agent could get the chat, or has it without a slot.
    pub fn awaits_assignment(&self) -> bool {
        self.state.is_waiting() || self.state.agent().is_some() && self.assignment.slot_of.is_none()
    }

    /// Whether the visitor wrote the last message.
    pub fn is_unanswered(&self) -> bool {
        self.last_message.as_ref().is_some_and(|last| last.from == Sender::Visitor.name())
    }

    pub fn is_visitor_typing(&self, now: Timestamp) -> bool {
        self.typing_started_at.is_some_and(|since| now.since(since) < VISITOR_TYPING_TIMEOUT)
    }

    /// Whether the bot has sent a message or invited an agent after `moment`. An event at exactly `moment` does not
    /// count: an AGENT_UNAVAILABLE notification has the same time as the INVITE_AGENT event that caused it.
    pub fn has_bot_event_after(&self, moment: Timestamp) -> bool {
        self.bot_event_at.is_some_and(|at| at > moment)
    }

    pub fn is_failing(&self, target: Target, now: Timestamp) -> bool {
        self.failing_until.get(&target).is_some_and(|until| now < *until)
    }
}
