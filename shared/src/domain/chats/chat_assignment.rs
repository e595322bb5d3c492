//! What automatic assignment stores in a chat, and the slots of agents.
//!
//! An agent has as many slots as the capacity allows. A chat takes a slot of the agent who has it or to whom it is
//! offered. The write that changes a chat's agent changes the counters of slots in the same transaction, so the
//! counters are exact, and no agent has more chats than the capacity, whoever accepts, transfers or closes chats at the
//! same time.

use std::cmp::Reverse;
use std::time::Duration;

use crate::domain::accounts::assignment::AssignmentMode;
use crate::domain::chats::bot_handover::HandoverPriority;
use crate::domain::chats::chat::Chat;
use crate::domain::chats::chat_state::ChatState;
use crate::domain::timestamp::Timestamp;

/// The maximum number of agents that a chat remembers because an offer to them has ended. Every message rewrites them.
const MAX_PASSED_BY: usize = 30;
/// How long a chat that all agents have let pass is open to everyone before it is offered to one of them again.
pub const ROUND_PAUSE: Duration = Duration::from_secs(60);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChatAssignment {
    /// The agent whose slot the chat takes. `None` if no agent has the chat and it is not offered to one, and in
    /// accounts without a capacity.
    pub slot_of: Option<u64>,
    pub offer: Option<AgentOffer>,
    /// The agents to whom the chat was offered in this round and who did not accept it.
    pub passed_by: Vec<u64>,
    /// When the last offer ended.
    pub offer_ended_at: Option<Timestamp>,
}

/// The offer of a waiting chat to one agent. Until it ends, no other agent can accept the chat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgentOffer {
    pub agent_id: u64,
    pub until: Timestamp,
}

impl ChatAssignment {
    /// Returns the value after a transition to `state`. A transition ends the offer, and the slot is freed unless the
    /// same agent has the chat.
    pub fn after_transition(&self, state: &ChatState) -> Self {
        let owner = match state {
            ChatState::Active(agent) => Some(agent.agent_id),
            ChatState::Bot | ChatState::Waiting | ChatState::Offered(_) | ChatState::Closed(_) => None,
        };
        Self { slot_of: self.slot_of.filter(|agent_id| owner == Some(*agent_id)), ..Self::default() }
    }

    /// The offer that nobody else can accept yet.
    pub fn current_offer(&self, now: Timestamp) -> Option<AgentOffer> {
        self.offer.filter(|offer| now < offer.until)
    }

    pub fn is_offer_over(&self, now: Timestamp) -> bool {
        self.offer.is_some() && self.current_offer(now).is_none()
    }

    /// An offer to an agent who has let the chat pass begins the next round.
    pub fn with_offer(&self, offer: AgentOffer) -> Self {
        let begins_round = self.passed_by.contains(&offer.agent_id);
        let passed_by = if begins_round { Vec::new() } else { self.passed_by.clone() };
        Self { slot_of: Some(offer.agent_id), offer: Some(offer), passed_by, offer_ended_at: self.offer_ended_at }
    }

    /// Returns the value after the end of the offer, which is offered to the other agents first from now on.
    pub fn without_offer(&self, now: Timestamp) -> Self {
        let mut passed_by = self.passed_by.clone();
        passed_by.extend(self.offer.map(|offer| offer.agent_id));
        if passed_by.len() > MAX_PASSED_BY {
            passed_by.remove(0);
        }
        Self { slot_of: None, offer: None, passed_by, offer_ended_at: Some(now) }
    }

    /// Returns those to whom the chat can be offered: who have not let it pass and, after the pause, all.
    pub fn offerable_to(&self, candidates: &[Candidate], now: Timestamp) -> Vec<Candidate> {
        let is_fresh = |candidate: &&Candidate| !self.passed_by.contains(&candidate.agent_id);
        let fresh: Vec<Candidate> = candidates.iter().filter(is_fresh).copied().collect();
        let is_round_over = fresh.is_empty() && self.next_round_at().is_none_or(|at| at <= now);
        if is_round_over { candidates.to_vec() } else { fresh }
    }

    /// When the chat can be offered again to agents who have let it pass.
    pub fn next_round_at(&self) -> Option<Timestamp> {
        self.offer_ended_at.map(|ended_at| ended_at.plus(ROUND_PAUSE))
    }
}

/// The slots of an agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AgentSlots {
    /// The number of slots that chats take.
    pub held: u32,
    /// The number of the last chat that was assigned to the agent, counted within the account. 0 before the first one.
    pub turn: u64,
}

/// The condition under which a chat takes a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotClaim {
    /// The agent must hold fewer slots than this.
    pub below: u32,
    /// The turn that the claim was decided with, and the next one. `None` if the chat is not assigned automatically.
    pub turn: Option<(u64, u64)>,
}

impl SlotClaim {
    /// A claim of a chat that is accepted, transferred, or given to an agent by a bot.
    pub fn within(capacity: u32) -> Self {
        Self { below: capacity, turn: None }
    }

    /// The claim of an assignment. It fails if the agent has got another chat since the slots were read, because the
    /// choice might be another one.
    pub fn assigned(seen: AgentSlots, next_turn: u64) -> Self {
        Self { below: seen.held.saturating_add(1), turn: Some((seen.turn, next_turn)) }
    }
}

/// An agent who may get a chat: eligible and online.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub agent_id: u64,
    pub slots: AgentSlots,
    pub capacity: u32,
}

impl Candidate {
    pub fn has_free_slot(&self) -> bool {
        self.slots.held < self.capacity
    }
}

/// Returns the agent who gets the next chat. `None` if nobody has a free slot, or if chats are accepted by hand.
pub fn choose_agent(mode: AssignmentMode, candidates: &[Candidate]) -> Option<Candidate> {
    let free = candidates.iter().filter(|candidate| candidate.has_free_slot());
    let least_recent = |candidate: &&Candidate| (candidate.slots.turn, candidate.agent_id);
    match mode {
        AssignmentMode::Manual => None,
        AssignmentMode::RoundRobin => free.min_by_key(least_recent).copied(),
        AssignmentMode::LeastBusy => {
            free.min_by_key(|candidate| (candidate.slots.held, least_recent(candidate))).copied()
        }
    }
}

/// Sorts waiting chats in the order in which they are assigned: by the priority that the bot has given, then by the
/// start of the wait.
pub fn sort_queue(chats: &mut [Chat]) {
    chats.sort_by_key(|chat| (Reverse(priority(chat)), chat.waiting_since, chat.chat_id));
}

fn priority(chat: &Chat) -> u8 {
    let priority = chat.handover.as_ref().and_then(|handover| handover.priority);
    match priority.unwrap_or(HandoverPriority::Normal) {
        HandoverPriority::Low => 0,
        HandoverPriority::Normal => 1,
        HandoverPriority::High => 2,
        HandoverPriority::Urgent => 3,
    }
}

#[cfg(test)]
mod simulation_test;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::accounts::agent::AgentSnapshot;
    use crate::domain::chats::bot_handover::{BotHandover, HandoverDetails};
    use crate::wire::sample_data;

    fn candidate(agent_id: u64, held: u32, turn: u64) -> Candidate {
        Candidate { agent_id, slots: AgentSlots { held, turn }, capacity: 3 }
    }

    #[test]
    fn mode_decides_who_gets_the_next_chat() {
        use AssignmentMode::{LeastBusy, Manual, RoundRobin};
        let agents = [candidate(1, 2, 7), candidate(2, 1, 9), candidate(3, 3, 2), candidate(4, 1, 8)];
        let equal = [candidate(2, 0, 0), candidate(1, 0, 0)];
        let busy = [candidate(1, 3, 1), candidate(2, 4, 0)];
        let table = [
            (Manual, &agents[..], None),
            (RoundRobin, &agents, Some(1)),
            (LeastBusy, &agents, Some(4)),
            (RoundRobin, &equal, Some(1)),
            (LeastBusy, &equal, Some(1)),
            (RoundRobin, &busy, None),
            (LeastBusy, &busy, None),
            (LeastBusy, &[], None),
        ];
        for (mode, candidates, expected) in table {
            let chosen = choose_agent(mode, candidates).map(|candidate| candidate.agent_id);
            assert_eq!(chosen, expected, "{mode:?} of {candidates:?}");
        }
    }

    #[test]
    fn offers_go_round() {
        let all = [candidate(1, 0, 0), candidate(2, 0, 0)];
        let ended_at = Timestamp(1_000);
        let ids = |passed_by: &[u64], now: Timestamp| -> Vec<u64> {
            let passed_by = passed_by.to_vec();
            let chat = ChatAssignment { passed_by, offer_ended_at: Some(ended_at), ..ChatAssignment::default() };
            chat.offerable_to(&all, now).iter().map(|candidate| candidate.agent_id).collect()
        };
        let fresh = (ids(&[], ended_at), ids(&[1], ended_at), ids(&[2, 9], ended_at));
        assert_eq!(fresh, (vec![1, 2], vec![2], vec![1]));
        let next_round = ended_at.plus(ROUND_PAUSE);
        assert!(ids(&[1, 2], Timestamp(next_round.0 - 1)).is_empty(), "open to everyone");
        assert_eq!(ids(&[1, 2], next_round), [1, 2]);
    }

    #[test]
    fn offer_to_an_agent_who_let_it_pass_begins_a_round() {
        let passed = ChatAssignment { passed_by: vec![1, 2], ..ChatAssignment::default() };
        let offered_to = |agent_id| passed.with_offer(AgentOffer { agent_id, until: Timestamp(20) });
        assert_eq!((offered_to(3).passed_by, offered_to(1).passed_by), (vec![1, 2], vec![]));
    }

    #[test]
    fn queue_is_sorted_by_priority_and_waiting_time() {
        let chat = |chat_id, priority, waiting_since| {
            let details = HandoverDetails { priority, ..HandoverDetails::default() };
            let handover = Some(BotHandover::invitation(&details, None, Timestamp(0)));
            let waiting_since = Some(Timestamp(waiting_since));
            Chat { chat_id, handover, waiting_since, ..sample_data::chat(Timestamp(0)) }
        };
        let mut queue = [
            chat(1, Some(HandoverPriority::Low), 1),
            chat(2, None, 9),
            chat(3, Some(HandoverPriority::Urgent), 5),
            chat(4, Some(HandoverPriority::Normal), 3),
            chat(5, Some(HandoverPriority::High), 8),
        ];
        sort_queue(&mut queue);
        assert_eq!(queue.map(|chat| chat.chat_id), [3, 5, 4, 2, 1]);
    }

    #[test]
    fn slot_stays_with_the_owner_and_is_freed_by_other_transitions() {
        let agent = |agent_id| AgentSnapshot { agent_id, name: "Ann".into(), photo: None };
        let offer = AgentOffer { agent_id: 1, until: Timestamp(20) };
        let offered = ChatAssignment { passed_by: vec![2], ..ChatAssignment::default() }.with_offer(offer);
        assert_eq!((offered.slot_of, offered.current_offer(Timestamp(19))), (Some(1), Some(offer)));
        assert_eq!((offered.current_offer(Timestamp(20)), offered.is_offer_over(Timestamp(20))), (None, true));
        let accepted = offered.after_transition(&ChatState::Active(agent(1)));
        assert_eq!(accepted, ChatAssignment { slot_of: Some(1), ..ChatAssignment::default() });
        let lost = [ChatState::Active(agent(2)), ChatState::Bot, ChatState::Waiting, ChatState::Closed(Some(agent(1)))];
        for state in lost {
            assert_eq!(accepted.after_transition(&state), ChatAssignment::default(), "{state:?}");
        }
        let (ended_at, passed_by) = (Some(Timestamp(20)), vec![2, 1]);
        let expected = ChatAssignment { slot_of: None, offer: None, passed_by, offer_ended_at: ended_at };
        assert_eq!(offered.without_offer(Timestamp(20)), expected);
    }
}
