//! Who owns a chat, and what may happen to it (design.md, section 2). The table is [`State::after`]; `store`
//! makes each transition with one conditional write.

use super::account::Author;

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

/// What happens to a chat.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// The visitor writes.
    VisitorWrites,
    /// BOT_MESSAGE.
    BotWrites,
    /// INVITE_AGENT, and whether an eligible agent is online.
    BotInvites {
        /// Whether an eligible agent is online.
        agent_online: bool,
    },
    /// A CLIENT_MESSAGE got no regular answer in its window.
    BotFails,
    /// An agent presses Reply.
    Accept(&'a Author),
    /// An agent writes.
    AgentWrites(&'a Author),
    /// An agent closes the chat.
    Close(&'a Author),
    /// The chat has rested too long.
    Idle,
    /// The agent of that id is gone.
    AgentGone(u64),
}

/// Why something may not happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The chat is closed.
    Closed,
    /// Another agent has it.
    Taken,
    /// The agent has not accepted it.
    NotAccepted,
    /// The bot does not have it any more.
    NotWithBot,
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

    /// The state of a chat that a visitor opens.
    pub fn opened(has_bot: bool) -> Self {
        if has_bot { Self::Bot } else { Self::Waiting }
    }

    /// The state after an event, or why it may not happen.
    pub fn after(&self, event: Event<'_>) -> Result<Self, Refusal> {
        match (self, event) {
            (Self::Bot, Event::BotWrites) => Ok(Self::Bot),
            (Self::Bot, Event::BotInvites { agent_online: true } | Event::BotFails) => Ok(Self::Waiting),
            (Self::Bot, Event::BotInvites { agent_online: false }) => Ok(Self::Bot),
            (_, Event::BotWrites | Event::BotInvites { .. } | Event::BotFails) => Err(Refusal::NotWithBot),

            (Self::Closed(_), _) => Err(Refusal::Closed),
            (_, Event::VisitorWrites) => Ok(self.clone()),

            (Self::Active(owner), event) => Self::after_agent(owner, event),
            (Self::Bot | Self::Waiting, Event::Accept(agent)) => Ok(Self::Active(agent.clone())),
            (Self::Bot | Self::Waiting, Event::AgentWrites(_)) => Err(Refusal::NotAccepted),
            (Self::Bot | Self::Waiting, Event::Close(_) | Event::Idle) => Ok(Self::Closed(None)),
            (Self::Bot | Self::Waiting, Event::AgentGone(_)) => Ok(self.clone()),
        }
    }

    /// What an agent may do with a chat that `owner` has: everything to their own, nothing to another's.
    fn after_agent(owner: &Author, event: Event<'_>) -> Result<Self, Refusal> {
        match event {
            Event::Accept(agent) | Event::AgentWrites(agent) if agent.agent_id == owner.agent_id => {
                Ok(Self::Active(owner.clone()))
            }
            Event::Close(agent) if agent.agent_id == owner.agent_id => Ok(Self::Closed(Some(owner.clone()))),
            Event::Idle => Ok(Self::Closed(Some(owner.clone()))),
            Event::AgentGone(agent_id) if agent_id == owner.agent_id => Ok(Self::Waiting),
            Event::Accept(_) | Event::AgentWrites(_) | Event::Close(_) | Event::AgentGone(_) => Err(Refusal::Taken),
            Event::VisitorWrites | Event::BotWrites | Event::BotInvites { .. } | Event::BotFails => {
                Err(Refusal::NotWithBot)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Refusal::{Closed, NotAccepted, NotWithBot, Taken};
    use super::*;

    fn agent(agent_id: u64) -> Author {
        Author { agent_id, name: format!("Agent {agent_id}"), photo: None }
    }

    fn active(agent_id: u64) -> Result<State, Refusal> {
        Ok(State::Active(agent(agent_id)))
    }

    /// What becomes of each of: with the bot, waiting, with agent 1, with agent 2, closed.
    fn outcomes(event: Event<'_>) -> [Result<State, Refusal>; 5] {
        let closed = State::Closed(Some(agent(1)));
        [State::Bot, State::Waiting, State::Active(agent(1)), State::Active(agent(2)), closed]
            .map(|state| state.after(event))
    }

    #[test]
    fn a_new_chat_goes_to_the_bot_if_there_is_one() {
        assert_eq!(State::opened(true), State::Bot);
        assert_eq!(State::opened(false), State::Waiting);
    }

    #[test]
    fn a_visitor_changes_no_owner_and_a_closed_chat_takes_nothing() {
        let expected = [Ok(State::Bot), Ok(State::Waiting), active(1), active(2), Err(Closed)];
        assert_eq!(outcomes(Event::VisitorWrites), expected);
    }

    #[test]
    fn a_bot_acts_only_on_a_chat_that_it_has() {
        let not = || Err(NotWithBot);
        let only = |state| [Ok(state), not(), not(), not(), not()];
        assert_eq!(outcomes(Event::BotWrites), only(State::Bot));
        assert_eq!(outcomes(Event::BotInvites { agent_online: true }), only(State::Waiting));
        assert_eq!(outcomes(Event::BotInvites { agent_online: false }), only(State::Bot));
        assert_eq!(outcomes(Event::BotFails), only(State::Waiting));
    }

    #[test]
    fn an_agent_takes_a_chat_that_no_other_agent_has() {
        let expected = [active(1), active(1), active(1), Err(Taken), Err(Closed)];
        assert_eq!(outcomes(Event::Accept(&agent(1))), expected);
    }

    #[test]
    fn only_the_agent_who_has_a_chat_writes_in_it() {
        let expected = [Err(NotAccepted), Err(NotAccepted), active(1), Err(Taken), Err(Closed)];
        assert_eq!(outcomes(Event::AgentWrites(&agent(1))), expected);
    }

    #[test]
    fn the_chats_of_an_agent_who_is_gone_wait_for_another() {
        let expected = [Ok(State::Bot), Ok(State::Waiting), Ok(State::Waiting), Err(Taken), Err(Closed)];
        assert_eq!(outcomes(Event::AgentGone(1)), expected);
    }

    #[test]
    fn whoever_has_a_chat_that_rests_it_is_closed() {
        let by = |agent_id| Ok(State::Closed(Some(agent(agent_id))));
        let expected = [Ok(State::Closed(None)), Ok(State::Closed(None)), by(1), by(2), Err(Closed)];
        assert_eq!(outcomes(Event::Idle), expected);
    }

    #[test]
    fn an_agent_closes_their_own_chat_or_one_that_nobody_has() {
        let nobody = || Ok(State::Closed(None));
        let expected = [nobody(), nobody(), Ok(State::Closed(Some(agent(1)))), Err(Taken), Err(Closed)];
        assert_eq!(outcomes(Event::Close(&agent(1))), expected);
    }
}
