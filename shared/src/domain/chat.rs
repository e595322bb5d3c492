//! The header of a chat, and who writes in it. Who owns it is in `ownership`.

use crate::domain::account::Author;
use crate::domain::chat_state::State;
use crate::domain::content::Content;
use crate::domain::delivery::Target;
use crate::domain::department::ChatDepartment;
use crate::domain::rate::Window;
use crate::domain::timestamp::Timestamp;

/// How long a visitor counts as typing after a typein that no typeout followed.
const TYPING_TTL: std::time::Duration = std::time::Duration::from_secs(30);
const DAY: std::time::Duration = std::time::Duration::from_secs(24 * 60 * 60);
/// Characters of a message in a list of chats, so that a header stays under 1 KB.
const MAX_PREVIEW_CHARS: usize = 80;
/// Agents whom a header remembers, each by a few bytes that every message of the chat writes.
const MAX_PARTICIPANTS: usize = 30;

/// Who wrote a timeline entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sender {
    /// The visitor.
    Visitor,
    /// An agent.
    Agent(Author),
    /// The bot of that name.
    Bot(String),
    /// The service itself: something happened.
    System,
}

impl Sender {
    /// The wire and storage name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Visitor => "visitor",
            Self::Agent(_) => "agent",
            Self::Bot(_) => "bot",
            Self::System => "system",
        }
    }
}

/// The last message, as a list of chats shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preview {
    /// Who wrote it, see [`From::name`].
    pub from: String,
    /// Its type.
    pub kind: String,
    /// Its beginning.
    pub text: String,
    /// When it was written.
    pub at: Timestamp,
}

impl Preview {
    /// The preview of a message.
    pub fn of(content: &Content, from: &Sender, at: Timestamp) -> Self {
        Self {
            from: from.name().to_owned(),
            kind: content.kind.name().to_owned(),
            text: content.preview(MAX_PREVIEW_CHARS),
            at,
        }
    }
}

/// Until when a chat's receivers count as failing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Failing {
    /// The integrator.
    pub channel: Option<Timestamp>,
    /// The bot's provider.
    pub bot: Option<Timestamp>,
}

/// How a visitor rates a chat (specification, C1: `rate`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the specification's own")]
pub enum Rating {
    Positive,
    Negative,
}

impl Rating {
    /// The wire and storage name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Positive => "positive",
            Self::Negative => "negative",
        }
    }

    /// The rating of that name.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Positive, Self::Negative].into_iter().find(|rating| rating.name() == name)
    }
}

/// The header of a chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chat {
    /// The account it belongs to.
    pub account_id: String,
    /// Sequential in the account, from 1.
    pub chat_id: u64,
    /// Who owns it.
    pub state: State,
    /// Counts the transitions of the chat. A state may come back, a version never does.
    pub version: u64,
    /// The channel the visitor writes through.
    pub channel_id: String,
    /// Its name when the chat was opened.
    pub channel_name: String,
    /// `sender.id` of the visitor as text.
    pub external_id: String,
    /// Whether `sender.id` was a number in the last message; `recipient.id` has the same form.
    pub has_numeric_id: bool,
    /// A hash of the invitation that the visitor accepted, see [`Panel::invite`](super::panel::Panel::invite).
    pub invite_hash: Option<String>,
    /// The visitor's number in the account.
    pub visitor_number: u64,
    /// The visitor's name, cut for lists.
    pub visitor_name: String,
    /// The department it came to last; it stays when an agent takes the chat.
    pub department: Option<ChatDepartment>,
    /// Ids of the agents who accepted the chat, were given it or closed it, in that order; of many the last.
    pub participants: Vec<u64>,
    /// The bot in front of the chat, also after it handed over.
    pub bot_id: Option<String>,
    /// When the bot last sent a BOT_MESSAGE or an INVITE_AGENT.
    pub bot_event_at: Option<Timestamp>,
    /// Number of the last timeline entry; numbers may be skipped, never repeated.
    pub seq: u64,
    /// When the visitor opened it.
    pub opened_at: Timestamp,
    /// The last message or transition.
    pub updated_at: Timestamp,
    /// The last message.
    pub last_message: Option<Preview>,
    /// When the visitor began to type.
    pub typing_since: Option<Timestamp>,
    /// Until when each receiver counts as failing, so that order gives way to progress.
    pub failing: Failing,
    /// The visitor's rate limit.
    pub rate: Window,
    /// What the visitor thinks of it.
    pub rating: Option<Rating>,
    /// For how many days what is written in the chat is kept; none: for ever. As the account said lately.
    pub keep_days: Option<u32>,
}

impl Chat {
    /// The chat after a transition to this state. The agent who has it then takes part.
    pub fn after_transition(&self, state: State, now: Timestamp) -> Self {
        let mut after = Self { state, version: self.version + 1, updated_at: now, typing_since: None, ..self.clone() };
        if let Some(agent_id) = after.state.agent().map(|agent| agent.agent_id) {
            after.add_participant(agent_id);
        }
        after
    }

    /// Until when something written now is kept.
    pub fn keep_until(&self, now: Timestamp) -> Option<Timestamp> {
        self.keep_days.map(|days| now.after(DAY * days))
    }

    /// Whether the chat is over and not to be shown any more; the table deletes late.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.state.is_closed() && self.keep_until(self.updated_at).is_some_and(|until| until <= now)
    }

    /// The chat as it may be shown: without the beginning of a message that is forgotten.
    pub fn as_kept(mut self, now: Timestamp) -> Self {
        let is_over = |last: &Preview| self.keep_until(last.at).is_some_and(|until| until <= now);
        if self.last_message.as_ref().is_some_and(is_over) {
            self.last_message = None;
        }
        self
    }

    /// Remembers an agent who takes part.
    pub fn add_participant(&mut self, agent_id: u64) {
        if self.participants.contains(&agent_id) {
            return;
        }
        if self.participants.len() >= MAX_PARTICIPANTS {
            self.participants.remove(0);
        }
        self.participants.push(agent_id);
    }

    /// Whether the visitor is composing a message.
    pub fn visitor_is_typing(&self, now: Timestamp) -> bool {
        self.typing_since.is_some_and(|since| now.since(since) < TYPING_TTL)
    }

    /// Whether the bot has sent a message or an invitation after that moment. One at the moment itself is none: what an
    /// invitation makes for the bot, the news that no agent is there, has the time of the invitation.
    pub fn has_bot_event_after(&self, moment: Timestamp) -> bool {
        self.bot_event_at.is_some_and(|at| at > moment)
    }

    /// Whether a try to reach that receiver failed lately.
    pub fn is_failing(&self, target: Target, now: Timestamp) -> bool {
        let until = match target {
            Target::Channel => self.failing.channel,
            Target::Bot => self.failing.bot,
            // Each webhook keeps its own order, and its events of a chat are few.
            Target::Webhook => None,
        };
        until.is_some_and(|until| now < until)
    }
}
