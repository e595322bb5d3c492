//! Who owns a chat, and what may happen to it (docs/design.md, Who owns a chat). The table is [`State::after`]; `store`
//! makes each transition with one conditional write.

use crate::domain::account::{Agent, Author};
use crate::domain::department::Department;

/// Who owns a chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// A bot answers.
    Bot,
    /// Nobody answers yet; it is offered to the eligible agents.
    Waiting,
    /// It waits too, but is offered to the members of this department.
    Offered(u64),
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
    /// A CLIENT_MESSAGE or AGENT_UNAVAILABLE got no regular answer in its window.
    BotFails,
    /// An agent presses Reply; the [`offer`](State::offer) that was found to be theirs.
    Accept(&'a Author, Option<u64>),
    /// An agent writes.
    AgentWrites(&'a Author),
    /// An agent closes the chat; the [`offer`](State::offer) that was found to be theirs.
    Close(&'a Author, Option<u64>),
    /// The chat has rested too long.
    Idle,
    /// The agent of that id is gone.
    AgentGone(u64),
    /// Somebody gives the chat to another agent or to a department.
    Transfer(Mover<'a>, &'a Recipient),
}

/// Who transfers a chat: the agent who has it, or an admin.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Mover<'a> {
    pub agent: &'a Author,
    pub is_admin: bool,
}

/// To whom a chat is transferred.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recipient {
    /// An agent, who has it at once.
    Agent(Author),
    /// A department, whose members it is offered to.
    Department(Department),
}

impl Recipient {
    /// An agent who is there. The header of a chat, whose every write would pay for a long address, has no photo.
    pub fn agent(agent: Agent) -> Self {
        Self::Agent(Author { photo: None, ..agent.into() })
    }

    /// Whether an agent is among those who get the chat.
    pub fn includes(&self, agent_id: u64) -> bool {
        match self {
            Self::Agent(agent) => agent.agent_id == agent_id,
            Self::Department(department) => department.agent_ids.contains(&agent_id),
        }
    }
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
    /// It is offered to others by now.
    OfferChanged,
    /// The agent has it already.
    AlreadyTheirs,
}

impl State {
    /// The wire and storage name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Bot => "bot",
            Self::Waiting | Self::Offered(_) => "waiting",
            Self::Active(_) => "active",
            Self::Closed(_) => "closed",
        }
    }

    /// The agent who has the chat, or had it when it was closed.
    pub fn agent(&self) -> Option<&Author> {
        match self {
            Self::Active(agent) => Some(agent),
            Self::Closed(agent) => agent.as_ref(),
            Self::Bot | Self::Waiting | Self::Offered(_) => None,
        }
    }

    /// The department to which alone it is offered.
    pub fn offer(&self) -> Option<u64> {
        match self {
            Self::Offered(department_id) => Some(*department_id),
            Self::Bot | Self::Waiting | Self::Active(_) | Self::Closed(_) => None,
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

            // A repeated request.
            (Self::Closed(owner), Event::Close(agent, _))
                if owner.as_ref().is_none_or(|owner| owner.agent_id == agent.agent_id) =>
            {
                Ok(self.clone())
            }
            (Self::Closed(_), _) => Err(Refusal::Closed),
            (_, Event::VisitorWrites) => Ok(self.clone()),

            (Self::Active(owner), event) => Self::after_agent(owner, event),
            (Self::Bot | Self::Waiting | Self::Offered(_), event) => self.after_nobody(event),
        }
    }

    /// What an agent may do with an open chat that no agent has.
    fn after_nobody(&self, event: Event<'_>) -> Result<Self, Refusal> {
        match event {
            Event::Accept(agent, offer) if offer == self.offer() => Ok(Self::Active(agent.clone())),
            Event::Close(_, offer) if offer == self.offer() => Ok(Self::Closed(None)),
            Event::Accept(..) | Event::Close(..) => Err(Refusal::OfferChanged),
            Event::AgentWrites(_) | Event::Transfer(..) => Err(Refusal::NotAccepted),
            Event::Idle => Ok(Self::Closed(None)),
            Event::AgentGone(_) | Event::VisitorWrites => Ok(self.clone()),
            Event::BotWrites | Event::BotInvites { .. } | Event::BotFails => Err(Refusal::NotWithBot),
        }
    }

    /// What an agent may do with a chat that `owner` has: everything to their own, nothing to another's.
    fn after_agent(owner: &Author, event: Event<'_>) -> Result<Self, Refusal> {
        match event {
            Event::Accept(agent, _) | Event::AgentWrites(agent) if agent.agent_id == owner.agent_id => {
                Ok(Self::Active(owner.clone()))
            }
            Event::Close(agent, _) if agent.agent_id == owner.agent_id => Ok(Self::Closed(Some(owner.clone()))),
            Event::Idle => Ok(Self::Closed(Some(owner.clone()))),
            Event::AgentGone(agent_id) if agent_id == owner.agent_id => Ok(Self::Waiting),
            Event::Transfer(by, to) if by.is_admin || by.agent.agent_id == owner.agent_id => {
                Self::after_transfer(owner, to)
            }
            Event::Accept(..)
            | Event::AgentWrites(_)
            | Event::Close(..)
            | Event::AgentGone(_)
            | Event::Transfer(..) => Err(Refusal::Taken),
            Event::VisitorWrites | Event::BotWrites | Event::BotInvites { .. } | Event::BotFails => {
                Err(Refusal::NotWithBot)
            }
        }
    }

    fn after_transfer(owner: &Author, to: &Recipient) -> Result<Self, Refusal> {
        match to {
            Recipient::Agent(agent) if agent.agent_id == owner.agent_id => Err(Refusal::AlreadyTheirs),
            Recipient::Agent(agent) => Ok(Self::Active(agent.clone())),
            Recipient::Department(department) => Ok(Self::Offered(department.department_id)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Refusal::{AlreadyTheirs, Closed, NotAccepted, NotWithBot, OfferChanged, Taken};
    use super::*;

    fn agent(agent_id: u64) -> Author {
        Author { agent_id, name: format!("Agent {agent_id}"), photo: None }
    }

    fn active(agent_id: u64) -> Result<State, Refusal> {
        Ok(State::Active(agent(agent_id)))
    }

    fn offered(department_id: u64) -> Result<State, Refusal> {
        Ok(State::Offered(department_id))
    }

    /// What becomes of each of: with the bot, waiting, offered to department 5, with agent 1, with agent 2, closed.
    fn outcomes(event: Event<'_>) -> [Result<State, Refusal>; 6] {
        let closed = State::Closed(Some(agent(1)));
        [State::Bot, State::Waiting, State::Offered(5), State::Active(agent(1)), State::Active(agent(2)), closed]
            .map(|state| state.after(event))
    }

    #[test]
    fn a_new_chat_goes_to_the_bot_if_there_is_one() {
        assert_eq!(State::opened(true), State::Bot);
        assert_eq!(State::opened(false), State::Waiting);
    }

    #[test]
    fn a_chat_that_is_offered_to_a_department_waits() {
        assert_eq!((State::Offered(5).name(), State::Offered(5).offer()), ("waiting", Some(5)));
        for state in [State::Bot, State::Waiting, State::Active(agent(1)), State::Closed(None)] {
            assert_eq!(state.offer(), None, "{state:?}");
        }
    }

    #[test]
    fn a_visitor_changes_no_owner_and_a_closed_chat_takes_nothing() {
        let expected = [Ok(State::Bot), Ok(State::Waiting), offered(5), active(1), active(2), Err(Closed)];
        assert_eq!(outcomes(Event::VisitorWrites), expected);
    }

    #[test]
    fn a_bot_acts_only_on_a_chat_that_it_has() {
        let not = || Err(NotWithBot);
        let only = |state| [Ok(state), not(), not(), not(), not(), not()];
        assert_eq!(outcomes(Event::BotWrites), only(State::Bot));
        assert_eq!(outcomes(Event::BotInvites { agent_online: true }), only(State::Waiting));
        assert_eq!(outcomes(Event::BotInvites { agent_online: false }), only(State::Bot));
        assert_eq!(outcomes(Event::BotFails), only(State::Waiting));
    }

    #[test]
    fn an_agent_takes_a_chat_that_no_other_agent_has() {
        let expected = [active(1), active(1), Err(OfferChanged), active(1), Err(Taken), Err(Closed)];
        assert_eq!(outcomes(Event::Accept(&agent(1), None)), expected);
    }

    #[test]
    fn an_offer_is_accepted_by_those_to_whom_it_was_made() {
        let not = || Err(OfferChanged);
        let expected = [not(), not(), active(1), active(1), Err(Taken), Err(Closed)];
        assert_eq!(outcomes(Event::Accept(&agent(1), Some(5))), expected);
        let expected = [not(), not(), not(), active(1), Err(Taken), Err(Closed)];
        assert_eq!(outcomes(Event::Accept(&agent(1), Some(6))), expected);
    }

    #[test]
    fn only_the_agent_who_has_a_chat_writes_in_it() {
        let not = || Err(NotAccepted);
        assert_eq!(outcomes(Event::AgentWrites(&agent(1))), [not(), not(), not(), active(1), Err(Taken), Err(Closed)]);
    }

    #[test]
    fn the_chats_of_an_agent_who_is_gone_wait_for_another() {
        let waiting = || Ok(State::Waiting);
        let expected = [Ok(State::Bot), waiting(), offered(5), waiting(), Err(Taken), Err(Closed)];
        assert_eq!(outcomes(Event::AgentGone(1)), expected);
    }

    #[test]
    fn whoever_has_a_chat_that_rests_it_is_closed() {
        let by = |agent_id| Ok(State::Closed(Some(agent(agent_id))));
        let nobody = || Ok(State::Closed(None));
        let expected = [nobody(), nobody(), nobody(), by(1), by(2), Err(Closed)];
        assert_eq!(outcomes(Event::Idle), expected);
    }

    #[test]
    fn an_agent_closes_their_own_chat_or_one_offered_to_them() {
        let (nobody, theirs) = (|| Ok(State::Closed(None)), || Ok(State::Closed(Some(agent(1)))));
        let expected = [nobody(), nobody(), Err(OfferChanged), theirs(), Err(Taken), theirs()];
        assert_eq!(outcomes(Event::Close(&agent(1), None)), expected);
        let expected = [Err(OfferChanged), Err(OfferChanged), nobody(), theirs(), Err(Taken), theirs()];
        assert_eq!(outcomes(Event::Close(&agent(1), Some(5))), expected);
    }

    #[test]
    fn a_closed_chat_is_closed_again_by_its_own_agent_alone() {
        let closed_by = |agent_id| State::Closed(Some(agent(agent_id)));
        assert_eq!(closed_by(1).after(Event::Close(&agent(1), None)), Ok(closed_by(1)));
        assert_eq!(closed_by(2).after(Event::Close(&agent(1), None)), Err(Closed));
        assert_eq!(State::Closed(None).after(Event::Close(&agent(1), None)), Ok(State::Closed(None)), "nobody had it");
    }

    #[test]
    fn the_agent_who_has_a_chat_or_an_admin_transfers_it() {
        let (to_1, to_3) = (Recipient::Agent(agent(1)), Recipient::Agent(agent(3)));
        let to_department =
            Recipient::Department(Department { department_id: 6, name: "Sales".into(), agent_ids: vec![1] });
        let owner = Mover { agent: &agent(1), is_admin: false };
        let admin = Mover { agent: &agent(4), is_admin: true };
        let owning_admin = Mover { agent: &agent(1), is_admin: true };
        let table = [
            (owner, &to_3, active(3), Err(Taken)),
            (owner, &to_1, Err(AlreadyTheirs), Err(Taken)),
            (owner, &to_department, offered(6), Err(Taken)),
            (admin, &to_3, active(3), active(3)),
            (admin, &to_1, Err(AlreadyTheirs), active(1)),
            (admin, &to_department, offered(6), offered(6)),
            (owning_admin, &to_3, active(3), active(3)),
            (owning_admin, &to_1, Err(AlreadyTheirs), active(1)),
        ];
        for (by, to, with_1, with_2) in table {
            let not = || Err(NotAccepted);
            let expected = [not(), not(), not(), with_1, with_2, Err(Closed)];
            assert_eq!(outcomes(Event::Transfer(by, to)), expected, "{by:?} to {to:?}");
        }
    }

    #[test]
    fn a_chat_goes_to_the_agent_or_to_the_members_of_the_department() {
        let department = Department { department_id: 1, name: "Sales".into(), agent_ids: vec![2, 3] };
        let table = [
            (Recipient::Agent(agent(1)), [true, false, false]),
            (Recipient::Department(department), [false, true, true]),
        ];
        for (to, expected) in table {
            assert_eq!([1, 2, 3].map(|agent_id| to.includes(agent_id)), expected, "{to:?}");
        }
    }
}
