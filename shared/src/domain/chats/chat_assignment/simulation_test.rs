//! Simulates an account in which chats arrive, are assigned by two processes at a time, are accepted by hand, and are
//! closed. The processes decide from what they have read, as the service does, and their writes take effect later and
//! in any order, or never, if the process is killed. The table is simulated by the conditions of the writes.

use std::collections::VecDeque;

use super::*;

const AGENTS: u64 = 10;
const CAPACITY: u32 = 5;
const ARRIVALS: usize = 100_000;
/// The number of writes that are under way at a time.
const PROCESSES: usize = 3;

/// A linear congruential generator, so that each run makes the same steps.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or_default() % limit.max(1)
    }
}

/// A write that has been decided: it gives a chat to an agent if the chat still waits and the claim holds.
struct Decision {
    chat: usize,
    agent_id: u64,
    claim: SlotClaim,
    /// The chats of each agent when the decision was made.
    seen: Vec<u32>,
}

#[derive(Default)]
struct Account {
    waiting: VecDeque<usize>,
    /// The chats of each agent; agent 1 is the first.
    chats: Vec<Vec<usize>>,
    slots: Vec<AgentSlots>,
    lost_races: u32,
}

impl Account {
    fn new() -> Self {
        let agents = 0..AGENTS;
        Self {
            chats: agents.clone().map(|_| Vec::new()).collect(),
            slots: agents.map(|_| AgentSlots::default()).collect(),
            ..Self::default()
        }
    }

    fn candidates(&self) -> Vec<Candidate> {
        let candidate =
            |(agent_id, slots): (u64, &AgentSlots)| Candidate { agent_id, slots: *slots, capacity: CAPACITY };
        (1..).zip(&self.slots).map(candidate).collect()
    }

    fn decide(&self, mode: AssignmentMode) -> Option<Decision> {
        let chat = *self.waiting.front()?;
        let chosen = choose_agent(mode, &self.candidates())?;
        let next_turn = self.slots.iter().map(|slots| slots.turn).max().unwrap_or_default() + 1;
        let claim = SlotClaim::assigned(chosen.slots, next_turn);
        Some(Decision { chat, agent_id: chosen.agent_id, claim, seen: self.loads() })
    }

    fn accept(&self, random: &mut Random) -> Option<Decision> {
        let chat = *self.waiting.get(random.below(self.waiting.len()))?;
        let agent_id = random.below(self.chats.len()) as u64 + 1;
        Some(Decision { chat, agent_id, claim: SlotClaim::within(CAPACITY), seen: self.loads() })
    }

    fn loads(&self) -> Vec<u32> {
        self.slots.iter().map(|slots| slots.held).collect()
    }

    /// Makes the write, like the transaction of the chat's header and the agent's slots.
    fn write(&mut self, Decision { chat, agent_id, claim, .. }: &Decision) -> bool {
        let agent = usize::try_from(agent_id - 1).expect("a small number");
        let slots = &mut self.slots[agent];
        let is_in_turn = claim.turn.is_none_or(|(seen, _)| slots.turn == seen);
        if !self.waiting.contains(chat) || slots.held >= claim.below || !is_in_turn {
            self.lost_races += 1;
            return false;
        }
        slots.held += 1;
        if let Some((_, next)) = claim.turn {
            slots.turn = next;
        }
        self.waiting.retain(|waiting| waiting != chat);
        self.chats[agent].push(*chat);
        true
    }

    fn close_one(&mut self, random: &mut Random) {
        let agent = random.below(self.chats.len());
        let count = self.chats[agent].len();
        if count > 0 {
            self.chats[agent].swap_remove(random.below(count));
            self.slots[agent].held -= 1;
        }
    }

    #[track_caller]
    fn assert_exact(&self) {
        for (slots, chats) in self.slots.iter().zip(&self.chats) {
            assert_eq!(slots.held as usize, chats.len(), "the counter is exact");
            assert!(slots.held <= CAPACITY, "{slots:?}");
        }
    }
}

/// Runs the simulation. `accepts` is whether agents also accept chats by hand.
fn simulate(mode: AssignmentMode, accepts: bool, check: impl Fn(&Account, &Decision)) -> Account {
    let (mut account, mut random, mut arrived) = (Account::new(), Random(1), 0);
    let mut under_way: Vec<Decision> = Vec::new();
    while arrived < ARRIVALS || !account.waiting.is_empty() {
        if arrived < ARRIVALS && account.waiting.len() < 20 {
            account.waiting.push_back(arrived);
            arrived += 1;
        }
        if under_way.len() < PROCESSES {
            under_way.extend(account.decide(mode));
        }
        if accepts && random.below(4) == 0 {
            under_way.extend(account.accept(&mut random));
        }
        match random.below(10) {
            // A process is killed before its write. Its task is repeated.
            0 if !under_way.is_empty() => drop(under_way.swap_remove(random.below(under_way.len()))),
            1..=6 if !under_way.is_empty() => {
                let decision = under_way.swap_remove(random.below(under_way.len()));
                if account.write(&decision) {
                    check(&account, &decision);
                }
            }
            _ => account.close_one(&mut random),
        }
        account.assert_exact();
    }
    account
}

#[test]
fn nobody_gets_more_chats_than_the_capacity() {
    for mode in [AssignmentMode::RoundRobin, AssignmentMode::LeastBusy] {
        let account = simulate(mode, true, |_, _| {});
        assert!(account.lost_races > 1_000, "{mode:?}: {} races", account.lost_races);
    }
}

#[test]
fn least_busy_agent_gets_each_chat() {
    let spread = |loads: &[u32]| loads.iter().max().unwrap_or(&0) - loads.iter().min().unwrap_or(&0);
    simulate(AssignmentMode::LeastBusy, false, |_, decision| {
        let chosen = decision.claim.below - 1;
        let least = decision.seen.iter().min().copied().unwrap_or_default();
        assert_eq!(chosen, least, "{:?}", decision.seen);
        let mut after = decision.seen.clone();
        after[usize::try_from(decision.agent_id - 1).expect("a small number")] += 1;
        assert!(spread(&after) <= spread(&decision.seen).max(1), "{:?}", decision.seen);
    });
}

/// No chat is closed, so the loads of agents with a sufficient capacity are the numbers of chats that they got.
#[test]
fn loads_of_equal_agents_differ_by_at_most_one() {
    for mode in [AssignmentMode::RoundRobin, AssignmentMode::LeastBusy] {
        let (mut slots, mut random) = ([AgentSlots::default(); 10], Random(2));
        for _ in 0..ARRIVALS {
            let candidates: Vec<Candidate> = (1..)
                .zip(&slots)
                .map(|(agent_id, slots)| Candidate { agent_id, slots: *slots, capacity: u32::MAX })
                .collect();
            // Two processes decide from the same state; only one of their writes can succeed.
            let chosen = choose_agent(mode, &candidates).expect("a free slot");
            let next_turn = slots.iter().map(|slots| slots.turn).max().unwrap_or_default() + 1;
            let claims = [SlotClaim::assigned(chosen.slots, next_turn); 2];
            for claim in claims.iter().take(1 + random.below(2)) {
                let slots = &mut slots[usize::try_from(chosen.agent_id - 1).expect("a small number")];
                let (seen, next) = claim.turn.expect("an assignment");
                if slots.held < claim.below && slots.turn == seen {
                    *slots = AgentSlots { held: slots.held + 1, turn: next };
                }
            }
            let loads = slots.map(|slots| slots.held);
            let spread = loads.iter().max().expect("ten") - loads.iter().min().expect("ten");
            assert!(spread <= 1, "{mode:?}: {loads:?}");
        }
    }
}
