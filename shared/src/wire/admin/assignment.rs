//! The assignment of chats in the settings of an account and of a department.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::accounts::assignment::{
    self, AssignmentMode, AssignmentRule, DEFAULT_CAPACITY, MAX_CAPACITY, MAX_OFFER, MIN_OFFER,
};
use crate::wire::fields::values::{Name, Whole};

const MAX_CAPACITY_OF_AGENT: u64 = MAX_CAPACITY as u64;
const MIN_OFFER_SECONDS: u64 = MIN_OFFER.as_secs();
const MAX_OFFER_SECONDS: u64 = MAX_OFFER.as_secs();

/// The number of chats that an agent can have at a time.
pub(super) type Capacity = Whole<1, MAX_CAPACITY_OF_AGENT>;
type OfferSeconds = Whole<MIN_OFFER_SECONDS, MAX_OFFER_SECONDS>;

/// How waiting chats get their agents, and how many chats an agent can have at a time.
#[derive(Clone, Deserialize, JsonSchema)]
pub struct AssignmentChange {
    mode: Name<AssignmentMode>,
    /// The number of chats that an agent can have at a time, unless the agent has a capacity of their own. 5 by default.
    capacity: Option<Capacity>,
    /// How long a chat is offered to an agent before it is offered to the next one. Absent or null: the agent gets the
    /// chat at once.
    offer_seconds: Option<OfferSeconds>,
}

impl From<AssignmentChange> for assignment::Assignment {
    fn from(AssignmentChange { mode, capacity, offer_seconds }: AssignmentChange) -> Self {
        Self { rule: rule(mode, offer_seconds), capacity: capacity.map_or(DEFAULT_CAPACITY, Whole::to_u32) }
    }
}

/// How waiting chats of the department get their agents.
#[derive(Clone, Deserialize, JsonSchema)]
pub struct DepartmentAssignmentChange {
    mode: Name<AssignmentMode>,
    /// Like `offer_seconds` of the account.
    offer_seconds: Option<OfferSeconds>,
}

impl From<DepartmentAssignmentChange> for AssignmentRule {
    fn from(DepartmentAssignmentChange { mode, offer_seconds }: DepartmentAssignmentChange) -> Self {
        rule(mode, offer_seconds)
    }
}

fn rule(Name(mode): Name<AssignmentMode>, offer_seconds: Option<OfferSeconds>) -> AssignmentRule {
    AssignmentRule { mode, offer: offer_seconds.map(|Whole(seconds)| Duration::from_secs(seconds)) }
}

/// How waiting chats get their agents, and how many chats an agent can have at a time.
#[derive(Serialize, JsonSchema)]
pub struct Assignment {
    mode: Name<AssignmentMode>,
    #[schemars(range(min = 1, max = MAX_CAPACITY))]
    capacity: u32,
    /// Null: the agent gets the chat at once.
    offer_seconds: Option<u64>,
}

impl From<assignment::Assignment> for Assignment {
    fn from(assignment::Assignment { rule, capacity }: assignment::Assignment) -> Self {
        Self { mode: Name(rule.mode), capacity, offer_seconds: rule.offer.map(|offer| offer.as_secs()) }
    }
}

/// How waiting chats of the department get their agents.
#[derive(Serialize, JsonSchema)]
pub struct DepartmentAssignment {
    mode: Name<AssignmentMode>,
    /// Null: the agent gets the chat at once.
    offer_seconds: Option<u64>,
}

impl From<AssignmentRule> for DepartmentAssignment {
    fn from(AssignmentRule { mode, offer }: AssignmentRule) -> Self {
        Self { mode: Name(mode), offer_seconds: offer.map(|offer| offer.as_secs()) }
    }
}
