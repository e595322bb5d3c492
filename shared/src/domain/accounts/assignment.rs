//! How the waiting chats of an account get their agents: by hand, or by automatic assignment.

use std::time::Duration;

use crate::domain::named::named;

pub const MAX_CAPACITY: u32 = 1_000;
pub const DEFAULT_CAPACITY: u32 = 5;
/// The shortest and the longest time for which a chat is offered to one agent.
pub const MIN_OFFER: Duration = Duration::from_secs(5);
pub const MAX_OFFER: Duration = Duration::from_secs(15 * 60);

named! {
    /// Who gets a waiting chat.
    pub enum AssignmentMode {
        /// The agent who accepts it first.
        Manual = "manual",
        /// The agent with a free slot who has waited longest for a chat.
        RoundRobin = "round_robin",
        /// The agent with the fewest chats.
        LeastBusy = "least_busy",
    }
}

/// The assignment of an account. An account without it has no capacity, and all of its chats are accepted by hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Assignment {
    pub rule: AssignmentRule,
    /// The number of chats that an agent without a capacity of their own can have at a time.
    pub capacity: u32,
}

/// How chats get their agents. A department can have a rule of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AssignmentRule {
    pub mode: AssignmentMode,
    /// How long a chat is offered to an agent before it is offered to the next one. `None`: the agent gets the chat at
    /// once.
    pub offer: Option<Duration>,
}

impl Assignment {
    /// Returns the capacity of an agent whose own capacity is `of_agent`.
    pub fn capacity_of(&self, of_agent: Option<u32>) -> u32 {
        of_agent.unwrap_or(self.capacity)
    }
}
