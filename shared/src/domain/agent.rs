//! Agents: the people of an account who answer chats.

use crate::domain::timestamp::Timestamp;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Agent,
    /// An agent who also manages the account.
    Admin,
}

impl Role {
    /// The name in APIs and in storage.
    pub fn name(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Admin => "admin",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        [Self::Agent, Self::Admin].into_iter().find(|role| role.name() == name)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    pub account_id: String,
    /// A sequential number in the account, starting at 1. The APIs use 0 for bots.
    pub agent_id: u64,
    pub name: String,
    /// The login name. It is in lower case and unique across all accounts.
    pub email: String,
    /// Sent to webhooks in the `agent` object.
    pub phone: Option<String>,
    /// URL of the avatar that visitors see.
    pub photo: Option<String>,
    pub role: Role,
    pub created_at: Timestamp,
}

/// The agent data that is copied into chats and messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentSnapshot {
    pub agent_id: u64,
    pub name: String,
    pub photo: Option<String>,
}

impl From<Agent> for AgentSnapshot {
    fn from(Agent { agent_id, name, photo, .. }: Agent) -> Self {
        Self { agent_id, name, photo }
    }
}
