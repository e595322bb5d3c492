//! Who owns a chat (design.md, section 2). Every transition is one conditional write made by `store`;
//! the rules are here.

use super::account::Author;
use super::content::Content;
use super::rate::Window;
use super::timestamp::Timestamp;

/// How long a visitor counts as typing after a typein that no typeout followed.
const TYPING_LASTS: std::time::Duration = std::time::Duration::from_secs(30);
/// Characters of a message in a list of chats, so that a header stays under 1 KB.
const PREVIEW_CHARACTERS: usize = 80;

/// Who owns a chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// A bot answers.
    Bot,
    /// Nobody answers yet; it is offered to the eligible agents.
    Waiting,
    /// This agent answers.
    Active(Author),
    /// It is over; the agent who had it last.
    Closed(Option<Author>),
}

/// Why a transition is not possible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The chat is closed.
    Closed,
    /// Another agent has it.
    Taken,
    /// The agent has not accepted it.
    NotAccepted,
}

impl State {
    /// The wire and storage name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Bot => "bot",
            Self::Waiting => "waiting",
            Self::Active(_) => "active",
            Self::Closed(_) => "closed",
        }
    }

    /// The agent who has the chat, or had it when it was closed.
    pub fn agent(&self) -> Option<&Author> {
        match self {
            Self::Active(agent) => Some(agent),
            Self::Closed(agent) => agent.as_ref(),
            Self::Bot | Self::Waiting => None,
        }
    }

    /// Whether the chat is over.
    pub fn is_closed(&self) -> bool {
        matches!(self, Self::Closed(_))
    }

    /// The state after the agent pressed Reply. Pressing it again changes nothing.
    pub fn accept(&self, agent: &Author) -> Result<Self, Refusal> {
        match self {
            Self::Bot | Self::Waiting => Ok(Self::Active(agent.clone())),
            Self::Active(owner) if owner.agent_id == agent.agent_id => Ok(self.clone()),
            Self::Active(_) => Err(Refusal::Taken),
            Self::Closed(_) => Err(Refusal::Closed),
        }
    }

    /// Whether the agent may write.
    pub fn write(&self, agent_id: u64) -> Result<(), Refusal> {
        match self {
            Self::Active(owner) if owner.agent_id == agent_id => Ok(()),
            Self::Active(_) => Err(Refusal::Taken),
            Self::Bot | Self::Waiting => Err(Refusal::NotAccepted),
            Self::Closed(_) => Err(Refusal::Closed),
        }
    }

    /// The state after the agent closed the chat: their own, or one that no agent has.
    pub fn close(&self, agent_id: u64) -> Result<Self, Refusal> {
        match self {
            Self::Bot | Self::Waiting => Ok(Self::Closed(None)),
            Self::Active(owner) if owner.agent_id == agent_id => Ok(Self::Closed(Some(owner.clone()))),
            Self::Active(_) => Err(Refusal::Taken),
            Self::Closed(_) => Err(Refusal::Closed),
        }
    }
}

/// Who wrote a timeline entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum From {
    /// The visitor.
    Visitor,
    /// An agent.
    Agent(Author),
}

impl From {
    /// The wire and storage name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Visitor => "visitor",
            Self::Agent(_) => "agent",
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
    pub fn of(content: &Content, from: &From, at: Timestamp) -> Self {
        Self {
            from: from.name().to_owned(),
            kind: content.kind.name().to_owned(),
            text: content.preview(PREVIEW_CHARACTERS),
            at,
        }
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
    /// The channel the visitor writes through.
    pub channel_id: String,
    /// Its name when the chat was opened.
    pub channel_name: String,
    /// `sender.id` of the visitor.
    pub external_id: String,
    /// The visitor's number in the account.
    pub visitor_number: u64,
    /// The visitor's name, cut for lists.
    pub visitor_name: String,
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
    /// Until when the receiver counts as failing, so that order gives way to progress.
    pub failing_until: Option<Timestamp>,
    /// The visitor's rate limit.
    pub rate: Window,
}

impl Chat {
    /// Whether the visitor is composing a message.
    pub fn visitor_is_typing(&self, now: Timestamp) -> bool {
        self.typing_since.is_some_and(|since| now.since(since) < TYPING_LASTS)
    }

    /// Whether a try failed lately.
    pub fn is_failing(&self, now: Timestamp) -> bool {
        self.failing_until.is_some_and(|until| now < until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agent(agent_id: u64) -> Author {
        Author { agent_id, name: format!("Agent {agent_id}"), photo: None }
    }

    fn states() -> [State; 5] {
        let closed = State::Closed(Some(agent(1)));
        [State::Bot, State::Waiting, State::Active(agent(1)), State::Active(agent(2)), closed]
    }

    #[test]
    fn an_agent_takes_a_chat_that_no_other_agent_has() {
        let taken = || Ok(State::Active(agent(1)));
        let expected = [taken(), taken(), taken(), Err(Refusal::Taken), Err(Refusal::Closed)];
        assert_eq!(states().map(|state| state.accept(&agent(1))), expected);
    }

    #[test]
    fn only_the_agent_who_has_a_chat_writes_in_it() {
        let unaccepted = || Err(Refusal::NotAccepted);
        let expected = [unaccepted(), unaccepted(), Ok(()), Err(Refusal::Taken), Err(Refusal::Closed)];
        assert_eq!(states().map(|state| state.write(1)), expected);
    }

    #[test]
    fn an_agent_closes_their_own_chat_or_one_that_nobody_has() {
        let expected = [
            Ok(State::Closed(None)),
            Ok(State::Closed(None)),
            Ok(State::Closed(Some(agent(1)))),
            Err(Refusal::Taken),
            Err(Refusal::Closed),
        ];
        assert_eq!(states().map(|state| state.close(1)), expected);
    }
}
