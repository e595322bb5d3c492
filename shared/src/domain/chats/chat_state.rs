//! The states of a chat and the transitions between them (docs/design.md, Chat ownership). [`ChatState::after_event`]
//! implements the transition table; the store makes each transition with one conditional write.

use crate::domain::accounts::agent::{Agent, AgentSnapshot};
use crate::domain::accounts::department::Department;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChatState {
    Bot,
    /// The chat is offered to the audience of its channel.
    Waiting,
    /// Like `Waiting`, but the chat is offered only to the members of the department with this id.
    Offered(u64),
    Active(AgentSnapshot),
    /// The field contains the agent who had the chat when it was closed, if there was one.
    Closed(Option<AgentSnapshot>),
}

#[derive(Clone, Copy, Debug)]
pub enum ChatEvent<'a> {
    VisitorWrites,
    /// The bot sends BOT_MESSAGE.
    BotWrites,
    /// The bot sends INVITE_AGENT.
    BotInvites(Invited<'a>),
    /// The bot did not accept an event that it must accept, or did not answer CLIENT_MESSAGE in time.
    BotFails,
    /// The bot sends CLOSE_CHAT.
    BotCloses,
    /// No agent has accepted the chat within the time that the bot's settings allow.
    AgentWaitEnds,
    /// The second field is the value of [`ChatState::offered_department`] when the agent saw the chat.
    Accept(&'a AgentSnapshot, Option<u64>),
    /// The chat is assigned to the agent automatically.
    Assign(&'a AgentSnapshot),
    AgentWrites(&'a AgentSnapshot),
    /// The second field is the same as in [`Accept`](Self::Accept).
    Close(&'a AgentSnapshot, Option<u64>),
    /// The chat has had no activity for as long as the account's idle limit.
    Idle,
    AgentDeleted(u64),
    Transfer(TransferRequester<'a>, &'a TransferTarget),
    /// An agent gives the chat to a bot. The second field is the same as in [`Accept`](Self::Accept).
    GiveToBot(TransferRequester<'a>, Option<u64>),
}

/// Whom an INVITE_AGENT reaches.
#[derive(Clone, Copy, Debug)]
pub enum Invited<'a> {
    /// No eligible agent is online.
    Nobody,
    /// The audience of the chat's channel.
    Audience,
    /// The members of the department with this id.
    Department(u64),
    /// An agent who is online and gets the chat immediately, as with a transfer.
    Agent(&'a AgentSnapshot),
}

#[derive(Clone, Copy, Debug)]
pub struct TransferRequester<'a> {
    pub agent: &'a AgentSnapshot,
    pub is_admin: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TransferTarget {
    /// The chat is assigned to the agent immediately. The agent does not have to accept it.
    Agent(AgentSnapshot),
    /// The chat is offered to the members of the department, one of whom must accept it.
    Department(Department),
}

impl TransferTarget {
    /// Returns the target for a transfer to this agent. Leaves out the photo; see [`AgentSnapshot::without_photo`].
    pub fn agent(agent: Agent) -> Self {
        Self::Agent(AgentSnapshot::from(agent).without_photo())
    }

    pub fn includes(&self, agent_id: u64) -> bool {
        match self {
            Self::Agent(agent) => agent.agent_id == agent_id,
            Self::Department(department) => department.agent_ids.contains(&agent_id),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TransitionError {
    Closed,
    OwnedByOtherAgent,
    NotAccepted,
    NotWithBot,
    OfferChanged,
    AlreadyOwner,
    AlreadyWithBot,
    NotWaiting,
    /// The chat is offered to another agent at the moment.
    OfferedToOther,
    /// The agent has as many chats as the capacity allows.
    AtCapacity,
}

impl ChatState {
    pub const OPEN_NAMES: [&'static str; 3] = ["bot", "waiting", "active"];
    pub const NAMES: [&'static str; 4] = ["bot", "waiting", "active", "closed"];

    /// Returns the name of this value in the APIs and in stored items.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Bot => "bot",
            Self::Waiting | Self::Offered(_) => "waiting",
            Self::Active(_) => "active",
            Self::Closed(_) => "closed",
        }
    }

    /// Returns the agent who has the chat, or who had it when it was closed.
    pub fn agent(&self) -> Option<&AgentSnapshot> {
        match self {
            Self::Active(agent) => Some(agent),
            Self::Closed(agent) => agent.as_ref(),
            Self::Bot | Self::Waiting | Self::Offered(_) => None,
        }
    }

    pub fn offered_department(&self) -> Option<u64> {
        match self {
            Self::Offered(department_id) => Some(*department_id),
            Self::Bot | Self::Waiting | Self::Active(_) | Self::Closed(_) => None,
        }
    }

    pub fn is_closed(&self) -> bool {
        matches!(self, Self::Closed(_))
    }

    pub fn is_waiting(&self) -> bool {
        matches!(self, Self::Waiting | Self::Offered(_))
    }

    pub fn initial(has_bot: bool) -> Self {
        if has_bot { Self::Bot } else { Self::Waiting }
    }

    pub fn after_event(&self, event: ChatEvent<'_>) -> Result<Self, TransitionError> {
        match (self, event) {
            (Self::Bot, ChatEvent::BotWrites) => Ok(Self::Bot),
            (Self::Bot, ChatEvent::BotInvites(invited)) => Ok(Self::after_invitation(invited)),
            (Self::Bot, ChatEvent::BotFails) => Ok(Self::Waiting),
            (Self::Bot, ChatEvent::BotCloses) => Ok(Self::Closed(None)),
            (_, ChatEvent::BotWrites | ChatEvent::BotInvites(_) | ChatEvent::BotFails | ChatEvent::BotCloses) => {
                Err(TransitionError::NotWithBot)
            }
            (Self::Waiting | Self::Offered(_), ChatEvent::AgentWaitEnds) => Ok(Self::Bot),
            (_, ChatEvent::AgentWaitEnds) => Err(TransitionError::NotWaiting),
            (Self::Waiting | Self::Offered(_), ChatEvent::Assign(agent)) => Ok(Self::Active(agent.clone())),
            (_, ChatEvent::Assign(_)) => Err(TransitionError::NotWaiting),

            // Closing a closed chat succeeds and changes nothing, unless it was closed while another agent had it.
            (Self::Closed(owner), ChatEvent::Close(agent, _))
                if owner.as_ref().is_none_or(|owner| owner.agent_id == agent.agent_id) =>
            {
                Ok(self.clone())
            }
            (Self::Closed(_), _) => Err(TransitionError::Closed),
            (_, ChatEvent::VisitorWrites) => Ok(self.clone()),

            (Self::Active(owner), event) => Self::after_event_with_agent(owner, event),
            (Self::Bot | Self::Waiting | Self::Offered(_), event) => self.after_event_without_agent(event),
        }
    }

    fn after_invitation(invited: Invited<'_>) -> Self {
        match invited {
            Invited::Nobody => Self::Bot,
            Invited::Audience => Self::Waiting,
            Invited::Department(department_id) => Self::Offered(department_id),
            Invited::Agent(agent) => Self::Active(agent.clone()),
        }
    }

    fn after_event_without_agent(&self, event: ChatEvent<'_>) -> Result<Self, TransitionError> {
        match event {
            ChatEvent::Accept(agent, offered_department) if offered_department == self.offered_department() => {
                Ok(Self::Active(agent.clone()))
            }
            ChatEvent::Close(_, offered_department) if offered_department == self.offered_department() => {
                Ok(Self::Closed(None))
            }
            ChatEvent::GiveToBot(_, offered_department) if offered_department == self.offered_department() => {
                Ok(Self::Bot)
            }
            ChatEvent::Accept(..) | ChatEvent::Close(..) | ChatEvent::GiveToBot(..) => {
                Err(TransitionError::OfferChanged)
            }
            ChatEvent::AgentWrites(_) | ChatEvent::Transfer(..) => Err(TransitionError::NotAccepted),
            ChatEvent::Idle => Ok(Self::Closed(None)),
            ChatEvent::AgentDeleted(_) | ChatEvent::VisitorWrites => Ok(self.clone()),
            ChatEvent::BotWrites
            | ChatEvent::BotInvites(_)
            | ChatEvent::BotFails
            | ChatEvent::BotCloses
            | ChatEvent::Assign(_)
            | ChatEvent::AgentWaitEnds => Err(TransitionError::NotWithBot),
        }
    }

    /// Returns the state of an active chat after an event. Agents other than `owner` cannot change the state, except
    /// for an admin, who can transfer the chat.
    fn after_event_with_agent(owner: &AgentSnapshot, event: ChatEvent<'_>) -> Result<Self, TransitionError> {
        match event {
            ChatEvent::Accept(agent, _) | ChatEvent::AgentWrites(agent) if agent.agent_id == owner.agent_id => {
                Ok(Self::Active(owner.clone()))
            }
            ChatEvent::Close(agent, _) if agent.agent_id == owner.agent_id => Ok(Self::Closed(Some(owner.clone()))),
            ChatEvent::Idle => Ok(Self::Closed(Some(owner.clone()))),
            ChatEvent::AgentDeleted(agent_id) if agent_id == owner.agent_id => Ok(Self::Waiting),
            ChatEvent::Transfer(by, to) if by.is_admin || by.agent.agent_id == owner.agent_id => {
                Self::after_transfer(owner, to)
            }
            ChatEvent::GiveToBot(by, _) if by.is_admin || by.agent.agent_id == owner.agent_id => Ok(Self::Bot),
            ChatEvent::Accept(..)
            | ChatEvent::AgentWrites(_)
            | ChatEvent::Close(..)
            | ChatEvent::AgentDeleted(_)
            | ChatEvent::Transfer(..)
            | ChatEvent::GiveToBot(..) => Err(TransitionError::OwnedByOtherAgent),
            ChatEvent::VisitorWrites
            | ChatEvent::BotWrites
            | ChatEvent::BotInvites(_)
            | ChatEvent::BotFails
            | ChatEvent::BotCloses
            | ChatEvent::Assign(_)
            | ChatEvent::AgentWaitEnds => Err(TransitionError::NotWithBot),
        }
    }

    fn after_transfer(owner: &AgentSnapshot, to: &TransferTarget) -> Result<Self, TransitionError> {
        match to {
            TransferTarget::Agent(agent) if agent.agent_id == owner.agent_id => Err(TransitionError::AlreadyOwner),
            TransferTarget::Agent(agent) => Ok(Self::Active(agent.clone())),
            TransferTarget::Department(department) => Ok(Self::Offered(department.department_id)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::TransitionError::{
        AlreadyOwner, Closed, NotAccepted, NotWaiting, NotWithBot, OfferChanged, OwnedByOtherAgent,
    };
    use super::*;

    fn agent(agent_id: u64) -> AgentSnapshot {
        AgentSnapshot { agent_id, name: format!("Agent {agent_id}"), photo: None }
    }

    fn active(agent_id: u64) -> Result<ChatState, TransitionError> {
        Ok(ChatState::Active(agent(agent_id)))
    }

    fn offered(department_id: u64) -> Result<ChatState, TransitionError> {
        Ok(ChatState::Offered(department_id))
    }

    /// Returns the results of an event for six chats: one with the bot, one waiting, one offered to department 5, one
    /// with agent 1, one with agent 2, and one closed by agent 1.
    fn results(event: ChatEvent<'_>) -> [Result<ChatState, TransitionError>; 6] {
        let closed = ChatState::Closed(Some(agent(1)));
        [
            ChatState::Bot,
            ChatState::Waiting,
            ChatState::Offered(5),
            ChatState::Active(agent(1)),
            ChatState::Active(agent(2)),
            closed,
        ]
        .map(|state| state.after_event(event))
    }

    #[test]
    fn new_chat_starts_with_bot_or_waits() {
        assert_eq!(ChatState::initial(true), ChatState::Bot);
        assert_eq!(ChatState::initial(false), ChatState::Waiting);
    }

    #[test]
    fn chat_offered_to_department_is_waiting() {
        assert_eq!((ChatState::Offered(5).name(), ChatState::Offered(5).offered_department()), ("waiting", Some(5)));
        assert!(ChatState::Offered(5).is_waiting());
        for state in [ChatState::Bot, ChatState::Waiting, ChatState::Active(agent(1)), ChatState::Closed(None)] {
            assert_eq!(state.offered_department(), None, "{state:?}");
            assert_eq!(state.is_waiting(), state.name() == "waiting", "{state:?}");
        }
    }

    #[test]
    fn visitor_message_keeps_state_of_open_chat() {
        let expected = [Ok(ChatState::Bot), Ok(ChatState::Waiting), offered(5), active(1), active(2), Err(Closed)];
        assert_eq!(results(ChatEvent::VisitorWrites), expected);
    }

    #[test]
    fn bot_acts_only_on_its_own_chats() {
        let refused = || Err(NotWithBot);
        let only = |state| [Ok(state), refused(), refused(), refused(), refused(), refused()];
        assert_eq!(results(ChatEvent::BotWrites), only(ChatState::Bot));
        assert_eq!(results(ChatEvent::BotInvites(Invited::Nobody)), only(ChatState::Bot));
        assert_eq!(results(ChatEvent::BotInvites(Invited::Audience)), only(ChatState::Waiting));
        assert_eq!(results(ChatEvent::BotInvites(Invited::Department(7))), only(ChatState::Offered(7)));
        assert_eq!(results(ChatEvent::BotInvites(Invited::Agent(&agent(3)))), only(ChatState::Active(agent(3))));
        assert_eq!(results(ChatEvent::BotFails), only(ChatState::Waiting));
        assert_eq!(results(ChatEvent::BotCloses), only(ChatState::Closed(None)));
    }

    #[test]
    fn only_a_waiting_chat_returns_to_the_bot_by_time() {
        let refused = || Err(NotWaiting);
        let expected = [refused(), Ok(ChatState::Bot), Ok(ChatState::Bot), refused(), refused(), refused()];
        assert_eq!(results(ChatEvent::AgentWaitEnds), expected);
    }

    #[test]
    fn only_a_waiting_chat_is_assigned() {
        let refused = || Err(NotWaiting);
        let expected = [refused(), active(1), active(1), refused(), refused(), refused()];
        assert_eq!(results(ChatEvent::Assign(&agent(1))), expected);
    }

    #[test]
    fn owner_admin_or_invited_agent_gives_a_chat_to_a_bot() {
        let (bot, changed) = (|| Ok(ChatState::Bot), || Err(OfferChanged));
        let (owner, admin) = (
            TransferRequester { agent: &agent(1), is_admin: false },
            TransferRequester { agent: &agent(4), is_admin: true },
        );
        let table = [
            (owner, None, [bot(), bot(), changed(), bot(), Err(OwnedByOtherAgent), Err(Closed)]),
            (owner, Some(5), [changed(), changed(), bot(), bot(), Err(OwnedByOtherAgent), Err(Closed)]),
            (admin, None, [bot(), bot(), changed(), bot(), bot(), Err(Closed)]),
        ];
        for (by, offer, expected) in table {
            assert_eq!(results(ChatEvent::GiveToBot(by, offer)), expected, "{by:?}, offer {offer:?}");
        }
    }

    #[test]
    fn agent_accepts_chat_without_agent() {
        let expected = [active(1), active(1), Err(OfferChanged), active(1), Err(OwnedByOtherAgent), Err(Closed)];
        assert_eq!(results(ChatEvent::Accept(&agent(1), None)), expected);
    }

    #[test]
    fn only_the_current_offer_can_be_accepted() {
        let refused = || Err(OfferChanged);
        let expected = [refused(), refused(), active(1), active(1), Err(OwnedByOtherAgent), Err(Closed)];
        assert_eq!(results(ChatEvent::Accept(&agent(1), Some(5))), expected);
        let expected = [refused(), refused(), refused(), active(1), Err(OwnedByOtherAgent), Err(Closed)];
        assert_eq!(results(ChatEvent::Accept(&agent(1), Some(6))), expected);
    }

    #[test]
    fn only_the_owner_writes_in_a_chat() {
        let refused = || Err(NotAccepted);
        assert_eq!(
            results(ChatEvent::AgentWrites(&agent(1))),
            [refused(), refused(), refused(), active(1), Err(OwnedByOtherAgent), Err(Closed)]
        );
    }

    #[test]
    fn chats_of_deleted_agent_wait_for_another() {
        let waiting = || Ok(ChatState::Waiting);
        let expected = [Ok(ChatState::Bot), waiting(), offered(5), waiting(), Err(OwnedByOtherAgent), Err(Closed)];
        assert_eq!(results(ChatEvent::AgentDeleted(1)), expected);
    }

    #[test]
    fn idle_chat_is_closed_in_every_state() {
        let closed_by = |agent_id| Ok(ChatState::Closed(Some(agent(agent_id))));
        let unowned = || Ok(ChatState::Closed(None));
        let expected = [unowned(), unowned(), unowned(), closed_by(1), closed_by(2), Err(Closed)];
        assert_eq!(results(ChatEvent::Idle), expected);
    }

    #[test]
    fn agent_closes_own_or_offered_chat() {
        let (unowned, owned) = (|| Ok(ChatState::Closed(None)), || Ok(ChatState::Closed(Some(agent(1)))));
        let expected = [unowned(), unowned(), Err(OfferChanged), owned(), Err(OwnedByOtherAgent), owned()];
        assert_eq!(results(ChatEvent::Close(&agent(1), None)), expected);
        let expected = [Err(OfferChanged), Err(OfferChanged), unowned(), owned(), Err(OwnedByOtherAgent), owned()];
        assert_eq!(results(ChatEvent::Close(&agent(1), Some(5))), expected);
    }

    #[test]
    fn repeated_close_succeeds_only_for_the_last_owner() {
        let closed_by = |agent_id| ChatState::Closed(Some(agent(agent_id)));
        assert_eq!(closed_by(1).after_event(ChatEvent::Close(&agent(1), None)), Ok(closed_by(1)));
        assert_eq!(closed_by(2).after_event(ChatEvent::Close(&agent(1), None)), Err(Closed));
        assert_eq!(
            ChatState::Closed(None).after_event(ChatEvent::Close(&agent(1), None)),
            Ok(ChatState::Closed(None)),
            "without an owner"
        );
    }

    #[test]
    fn owner_or_admin_transfers_a_chat() {
        let (to_1, to_3) = (TransferTarget::Agent(agent(1)), TransferTarget::Agent(agent(3)));
        let to_department = TransferTarget::Department(Department {
            department_id: 6,
            name: "Sales".into(),
            agent_ids: vec![1],
            ..Department::default()
        });
        let owner = TransferRequester { agent: &agent(1), is_admin: false };
        let admin = TransferRequester { agent: &agent(4), is_admin: true };
        let owning_admin = TransferRequester { agent: &agent(1), is_admin: true };
        let table = [
            (owner, &to_3, active(3), Err(OwnedByOtherAgent)),
            (owner, &to_1, Err(AlreadyOwner), Err(OwnedByOtherAgent)),
            (owner, &to_department, offered(6), Err(OwnedByOtherAgent)),
            (admin, &to_3, active(3), active(3)),
            (admin, &to_1, Err(AlreadyOwner), active(1)),
            (admin, &to_department, offered(6), offered(6)),
            (owning_admin, &to_3, active(3), active(3)),
            (owning_admin, &to_1, Err(AlreadyOwner), active(1)),
        ];
        for (by, to, with_1, with_2) in table {
            let refused = || Err(NotAccepted);
            let expected = [refused(), refused(), refused(), with_1, with_2, Err(Closed)];
            assert_eq!(results(ChatEvent::Transfer(by, to)), expected, "{by:?} to {to:?}");
        }
    }

    #[test]
    fn transfer_target_includes_agent_or_department_members() {
        let department =
            Department { department_id: 1, name: "Sales".into(), agent_ids: vec![2, 3], ..Department::default() };
        let table = [
            (TransferTarget::Agent(agent(1)), [true, false, false]),
            (TransferTarget::Department(department), [false, true, true]),
        ];
        for (to, expected) in table {
            assert_eq!([1, 2, 3].map(|agent_id| to.includes(agent_id)), expected, "{to:?}");
        }
    }
}
