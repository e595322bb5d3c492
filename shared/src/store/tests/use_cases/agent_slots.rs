//! Tests of the slots of agents: the counters are exact, and nobody gets more chats than the capacity.

use std::collections::BTreeMap;

use crate::chats::agent::close_chat::close_chat;
use crate::chats::agent::transfer_chat::Transfer;
use crate::chats::assignment::assign_chat::assign_chat;
use crate::chats::assignment::count_chat::{count_all_chats, count_chat};
use crate::chats::assignment::offer_chat::{decline_offer, end_offer, offer_chat};
use crate::domain::chats::chat_assignment::{AgentOffer, AgentSlots, SlotClaim};
use crate::store::tests::*;

const CAPACITY: u32 = 3;
const CLAIM: SlotClaim = SlotClaim { below: CAPACITY, turn: None };

impl Stores {
    async fn open_chats(&self, count: usize) {
        for visitor in 0..count {
            self.visitor_writes(&format!("v{visitor}"), "hi", NOW).await.unwrap();
        }
    }

    async fn claim(&self, chat_id: u64, agent_id: u64) -> Result<Chat, Error> {
        let (chat, agent) = (self.chat_header(chat_id).await, agent_snapshot(agent_id));
        let accepted = accept_chat(&self.chats, chat, (&agent, Some(CLAIM)), &[], NOW).await;
        accepted.map(|transition| transition.chat)
    }

    async fn assign(&self, chat_id: u64, agent_id: u64, slots: AgentSlots, turn: u64) -> Result<Chat, Error> {
        let (chat, agent) = (self.chat_header(chat_id).await, agent_snapshot(agent_id));
        let claim = SlotClaim::assigned(slots, turn);
        assign_chat(&self.chats, chat, (&agent, claim), &[], NOW).await.map(|transition| transition.chat)
    }

    async fn held(&self) -> BTreeMap<u64, u32> {
        let slots = self.chats.agent_slots("acc").await.unwrap();
        slots.into_iter().map(|(agent_id, slots)| (agent_id, slots.held)).filter(|(_, held)| *held > 0).collect()
    }

    /// Counts the slots in the headers of the chats.
    async fn slots_in_headers(&self, chat_ids: impl Iterator<Item = u64>) -> BTreeMap<u64, u32> {
        let mut counts = BTreeMap::new();
        for chat_id in chat_ids {
            if let Some(agent_id) = self.chat_header(chat_id).await.assignment.slot_of {
                *counts.entry(agent_id).or_default() += 1;
            }
        }
        counts
    }
}

fn is_at_capacity<T: std::fmt::Debug>(result: &Result<T, Error>) -> bool {
    result.as_ref().is_err_and(Error::is_at_capacity)
}

#[tokio::test]
async fn transitions_take_move_and_free_slots() {
    let stores = stores().await;
    stores.open_chats(2).await;
    stores.claim(1, 1).await.unwrap();
    stores.claim(2, 1).await.unwrap();
    assert_eq!(stores.held().await, BTreeMap::from([(1, 2)]));
    stores.claim(1, 1).await.unwrap();
    assert_eq!(stores.held().await, BTreeMap::from([(1, 2)]), "a repeated accept takes no further slot");

    let (agent, to) = (agent_snapshot(1), TransferTarget::Agent(agent_snapshot(2)));
    let by = TransferRequester { agent: &agent, is_admin: false };
    let chat = stores.chat_header(1).await;
    let transfer = Transfer { claim: Some(CLAIM), ..transfer_to(&to) };
    transfer_chat(&stores.chats, chat, by, transfer, without_webhooks(NOW)).await.unwrap();
    assert_eq!(stores.held().await, BTreeMap::from([(1, 1), (2, 1)]));
    release_chats_of_agent(&stores.chats, "acc", 2, &[], NOW).await.unwrap();
    close_chat(&stores.chats, stores.chat_header(2).await, &agent, &[], NOW).await.unwrap();
    assert_eq!(stores.held().await, BTreeMap::new());
}

#[tokio::test]
async fn accounts_without_capacity_have_no_slots() {
    let stores = stores().await;
    stores.open_chats(1).await;
    stores.accept(1, &bob(), &[], NOW).await.unwrap();
    assert_eq!(stores.chat_header(1).await.assignment.slot_of, None);
    assert!(stores.chats.agent_slots("acc").await.unwrap().is_empty());
}

#[tokio::test]
async fn racing_accepts_of_one_agent_stop_at_the_capacity() {
    let stores = stores().await;
    stores.open_chats(8).await;
    let results = join_all((1..=8).map(|chat_id| stores.claim(chat_id, 1))).await;
    let accepted = results.iter().filter(|result| result.is_ok()).count();
    assert_eq!(accepted, CAPACITY as usize, "{results:?}");
    assert!(results.iter().all(|result| result.is_ok() || is_at_capacity(result)), "{results:?}");
    assert_eq!(stores.held().await, stores.slots_in_headers(1..=8).await);
}

#[tokio::test]
async fn assignment_fails_if_the_agent_got_another_chat_since() {
    let stores = stores().await;
    stores.open_chats(3).await;
    let seen = AgentSlots::default();
    stores.assign(1, 1, seen, 1).await.unwrap();
    assert!(is_at_capacity(&stores.assign(2, 1, seen, 1).await), "decided from an earlier state");
    let slots = stores.chats.agent_slots("acc").await.unwrap()[&1];
    assert_eq!(slots, AgentSlots { held: 1, turn: 1 });
    stores.assign(2, 1, slots, 2).await.unwrap();
    let stale = stores.chat_header(3).await;
    stores.claim(3, 2).await.unwrap();
    let claim = SlotClaim::assigned(AgentSlots { held: 2, turn: 2 }, 3);
    let refused = assign_chat(&stores.chats, stale, (&agent_snapshot(1), claim), &[], NOW).await;
    assert!(matches!(refused, Err(Error::Conflict(_))), "the chat was accepted: {refused:?}");
    assert_eq!(stores.held().await, BTreeMap::from([(1, 2), (2, 1)]));
}

#[tokio::test]
async fn offer_holds_a_slot_until_it_ends_or_is_accepted() {
    let stores = stores().await;
    stores.open_chats(1).await;
    let offer = |agent_id| AgentOffer { agent_id, until: seconds_later(20) };
    let chat = stores.chat_header(1).await;
    let offered = offer_chat(&stores.chats, &chat, (offer(1), CLAIM), NOW).await.unwrap();
    assert_eq!(stores.chat_header(1).await.assignment, offered.assignment);
    assert_eq!(stores.held().await, BTreeMap::from([(1, 1)]));
    let refused = stores.claim(1, 2).await;
    assert!(
        matches!(refused, Err(Error::Conflict("the chat is offered to another agent at the moment"))),
        "{refused:?}"
    );
    let ended = end_offer(&stores.chats, &offered, seconds_later(20)).await.unwrap();
    assert_eq!((stores.held().await, &ended.assignment.passed_by), (BTreeMap::new(), &vec![1]));
    let repeated = end_offer(&stores.chats, &offered, seconds_later(20)).await;
    assert!(matches!(repeated, Err(Error::Conflict(_))), "another process has ended it: {repeated:?}");

    let offered = offer_chat(&stores.chats, &ended, (offer(2), CLAIM), NOW).await.unwrap();
    let declined = decline_offer(&stores.chats, offered.clone(), &agent_snapshot(2), NOW).await.unwrap();
    assert_eq!(declined.assignment.passed_by, [1, 2]);
    let not_offered = decline_offer(&stores.chats, declined.clone(), &agent_snapshot(2), NOW).await;
    assert!(matches!(not_offered, Err(Error::Conflict(_))), "{not_offered:?}");
    offer_chat(&stores.chats, &declined, (offer(1), CLAIM), NOW).await.unwrap();
    let accepted = stores.claim(1, 1).await.unwrap();
    assert_eq!((accepted.assignment.slot_of, accepted.assignment.offer), (Some(1), None));
    assert_eq!(stores.held().await, BTreeMap::from([(1, 1)]));
}

#[tokio::test]
async fn chats_from_before_the_capacity_are_counted_once() {
    let stores = stores().await;
    stores.open_chats(2).await;
    stores.accept(1, &bob(), &[], NOW).await.unwrap();
    let stale = stores.chat_header(1).await;
    count_all_chats(&stores.chats, "acc").await.unwrap();
    count_chat(&stores.chats, &stale).await.unwrap();
    count_all_chats(&stores.chats, "acc").await.unwrap();
    assert_eq!(stores.held().await, BTreeMap::from([(1, 1)]));
    close_chat(&stores.chats, stale, &bob(), &[], NOW).await.unwrap();
    assert_eq!(stores.held().await, BTreeMap::new(), "a close that has read the chat before reads it again");
}

#[tokio::test]
async fn erased_chat_frees_its_slot_once() {
    let stores = stores().await;
    stores.open_chats(1).await;
    stores.claim(1, 1).await.unwrap();
    for _ in 0..2 {
        let closed = stores.chats.close_for_erasure("acc", 1, NOW).await.unwrap().unwrap();
        stores.chats.free_slot_of_erased_chat(&closed).await.unwrap();
        assert_eq!(stores.held().await, BTreeMap::new());
    }
}

/// Agents accept, transfer and close chats concurrently, while two processes assign others.
#[tokio::test]
async fn counters_are_exact_after_concurrent_changes() {
    const CHATS: u64 = 24;
    let stores = stores().await;
    stores.open_chats(CHATS as usize).await;
    for round in 0..6_u64 {
        let changes = (1..=CHATS).map(|chat_id| {
            let (stores, agent_id) = (&stores, (chat_id + round) % 3 + 1);
            async move {
                match (chat_id * 7 + round) % 4 {
                    0 => drop(stores.claim(chat_id, agent_id).await),
                    1 => {
                        let slots = stores.chats.agent_slots("acc").await.unwrap();
                        let seen = slots.get(&agent_id).copied().unwrap_or_default();
                        let has_free_slot = seen.held < CAPACITY;
                        if has_free_slot {
                            drop(stores.assign(chat_id, agent_id, seen, seen.turn + 1).await);
                        }
                    }
                    2 => {
                        let (agent, chat) = (agent_snapshot(agent_id), stores.chat_header(chat_id).await);
                        let to = TransferTarget::Agent(agent_snapshot(agent_id % 3 + 1));
                        let by = TransferRequester { agent: &agent, is_admin: true };
                        let transfer = Transfer { claim: Some(CLAIM), ..transfer_to(&to) };
                        drop(transfer_chat(&stores.chats, chat, by, transfer, without_webhooks(NOW)).await);
                    }
                    _ => {
                        let chat = stores.chat_header(chat_id).await;
                        let owner = chat.state.agent().cloned().unwrap_or_else(bob);
                        drop(close_chat(&stores.chats, chat, &owner, &[], NOW).await);
                    }
                }
            }
        });
        join_all(changes).await;
        let held = stores.held().await;
        assert_eq!(held, stores.slots_in_headers(1..=CHATS).await, "round {round}");
        assert!(held.values().all(|held| *held <= CAPACITY), "{held:?}");
    }
}
