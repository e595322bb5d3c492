//! Agents: the people who answer the chats of an account.

use crate::domain::named::named;
use crate::domain::timestamp::Timestamp;

named! {
    pub enum Role {
        Agent = "agent",
        /// An agent who also manages the account.
        Admin = "admin",
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    pub account_id: String,
    /// A sequential number within the account, starting at 1. The APIs use 0 as the agent id of bots.
    pub agent_id: u64,
    pub name: String,
    /// The e-mail address that the agent signs in with, in lower case. It is unique across all accounts.
    pub email: String,
    /// The agent's phone number as it was entered. It is sent to webhooks in the `agent` object. Calls to the agent use
    /// it if it is a valid number.
    pub phone: Option<String>,
    /// The URL of the picture that visitors see.
    pub photo: Option<String>,
    pub role: Role,
    /// The number of chats that the agent can have at a time. `None`: that of the account.
    pub capacity: Option<u32>,
    pub created_at: Timestamp,
}

/// The agent data that is copied into chats, messages and audit entries. Later changes to the agent do not affect the
/// copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentSnapshot {
    pub agent_id: u64,
    pub name: String,
    pub photo: Option<String>,
}

impl AgentSnapshot {
    /// Returns a copy without the photo, for stored chats, events and audit entries. The photo's URL can be long, and
    /// it would make every write of the item more expensive.
    pub fn without_photo(&self) -> Self {
        Self { photo: None, ..self.clone() }
    }
}

impl From<Agent> for AgentSnapshot {
    fn from(Agent { agent_id, name, photo, .. }: Agent) -> Self {
        Self { agent_id, name, photo }
    }
}

/// A session as its agent sees it in the list of sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionSummary {
    /// The beginning of the session's id.
    pub short_id: String,
    /// `None` if an earlier version of the service stored the session.
    pub created_at: Option<Timestamp>,
    pub last_request_at: Timestamp,
    pub source_address: Option<String>,
    pub user_agent: Option<String>,
}
