//! The slots of agents: one item for each agent, with the number of slots that chats take. A transaction that changes
//! whose slot a chat takes also changes the counters.

use std::collections::HashMap;

use serde::Deserialize;

use crate::domain::chats::chat::Chat;
use crate::domain::chats::chat_assignment::{AgentSlots, SlotClaim};
use crate::error::Error;
use crate::store::chats::{Chats, header_key};
use crate::store::from_item;
use crate::store::table::{ItemUpdate, Key, Query, Write, WriteError, WriteResult, n, s};

const PREFIX: &str = "AGENT_SLOTS#";
const MAX_ITEMS_PER_QUERY: i32 = 1_000;

const TAKE_SLOT: &str = "SET #agent_id = :agent ADD #held :one";
const HAS_FREE_SLOT: &str = "attribute_not_exists(#held) OR #held < :below";
const TAKE_SLOT_IN_TURN: &str = "SET #agent_id = :agent, #turn = :turn ADD #held :one";
const HAS_FREE_SLOT_IN_TURN: &str =
    "(attribute_not_exists(#held) OR #held < :below) AND (attribute_not_exists(#turn) OR #turn = :seen_turn)";

#[derive(Deserialize)]
struct SlotsItem {
    agent_id: u64,
    held: i64,
    #[serde(default)]
    turn: u64,
}

fn slots_pk(account_id: &str) -> String {
    format!("{PREFIX}{account_id}")
}

fn slots_key(account_id: &str, agent_id: u64) -> Key {
    Key::new(slots_pk(account_id), format!("{agent_id:010}"))
}

/// The writes that change the counters of slots together with a chat.
pub(super) struct SlotWrites {
    pub taken: Option<Write>,
    pub freed: Option<Write>,
}

impl SlotWrites {
    /// A chat takes a new slot only with a claim.
    pub(super) fn of(before: &Chat, after: &Chat, claim: Option<&SlotClaim>) -> Self {
        let (old, new) = (before.assignment.slot_of, after.assignment.slot_of);
        if old == new {
            return Self { taken: None, freed: None };
        }
        let key = |agent_id| slots_key(&after.account_id, agent_id);
        Self {
            taken: new.zip(claim).map(|(agent_id, claim)| Write::Update(taking_update(key(agent_id), agent_id, claim))),
            freed: old.map(|agent_id| Write::Update(freeing_update(key(agent_id), agent_id))),
        }
    }
}

fn taking_update(key: Key, agent_id: u64, claim: &SlotClaim) -> ItemUpdate {
    let mut values = vec![(":agent", n(agent_id)), (":one", n(1)), (":below", n(claim.below))];
    let (update, condition) = match claim.turn {
        None => (TAKE_SLOT, HAS_FREE_SLOT),
        Some((seen, next)) => {
            values.extend([(":seen_turn", n(seen)), (":turn", n(next))]);
            (TAKE_SLOT_IN_TURN, HAS_FREE_SLOT_IN_TURN)
        }
    };
    ItemUpdate { key, update, condition, values }
}

fn freeing_update(key: Key, agent_id: u64) -> ItemUpdate {
    let values = vec![(":agent", n(agent_id)), (":minus_one", n(-1))];
    ItemUpdate { key, update: "SET #agent_id = :agent ADD #held :minus_one", condition: "", values }
}

impl Chats {
    /// Reads the slots of all agents who have had a chat since the account has a capacity.
    pub async fn agent_slots(&self, account_id: &str) -> Result<HashMap<u64, AgentSlots>, Error> {
        let query = Query {
            index: None,
            condition: "#pk = :account",
            values: vec![(":account", s(slots_pk(account_id)))],
            limit: MAX_ITEMS_PER_QUERY,
            descending: false,
        };
        let slots = |item| {
            let SlotsItem { agent_id, held, turn } = from_item(item)?;
            Ok((agent_id, AgentSlots { held: u32::try_from(held).unwrap_or_default(), turn }))
        };
        self.table.query_all(query, usize::MAX).await?.into_iter().map(slots).collect()
    }

    /// Lets a chat take a slot of the agent who has it, whatever the capacity: the agent got it while the account had
    /// no capacity. Does nothing if the chat has changed since it was read, or takes a slot already.
    pub(crate) async fn count_chat_of_agent(&self, chat: &Chat, agent_id: u64) -> Result<(), Error> {
        let header = ItemUpdate {
            key: header_key(&chat.account_id, chat.chat_id),
            update: "SET #slot_of = :agent, #version = :new_version",
            condition: "#version = :version",
            values: vec![(":agent", n(agent_id)), (":version", n(chat.version)), (":new_version", n(chat.version + 1))],
        };
        let slots = ItemUpdate {
            key: slots_key(&chat.account_id, agent_id),
            update: TAKE_SLOT,
            condition: "",
            values: vec![(":agent", n(agent_id)), (":one", n(1))],
        };
        self.table.transact(vec![Write::Update(header), Write::Update(slots)]).await.condition().map(|_| ())
    }

    /// Frees the slot of a chat that is being erased. Can be repeated.
    pub(crate) async fn free_slot_of_erased_chat(&self, chat: &Chat) -> Result<(), Error> {
        let Some(agent_id) = chat.assignment.slot_of else { return Ok(()) };
        let header = ItemUpdate {
            key: header_key(&chat.account_id, chat.chat_id),
            update: "REMOVE #slot_of",
            condition: "#slot_of = :agent",
            values: vec![(":agent", n(agent_id))],
        };
        let freed = freeing_update(slots_key(&chat.account_id, agent_id), agent_id);
        self.table.transact(vec![Write::Update(header), Write::Update(freed)]).await.condition().map(|_| ())
    }
}

/// Whether the write with this number failed because the agent has no free slot.
pub(super) fn is_slot_refused(error: &WriteError, index_of_claim: Option<usize>) -> bool {
    matches!(error, WriteError::ConditionFailed { index, .. } if Some(*index) == index_of_claim)
}
