//! Agents: the people of an account who answer chats.

use crate::domain::timestamp::Timestamp;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Agent,
    /// Also manages the account.
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
    /// Sequential in the account, from 1. The APIs use 0 for bots.
    pub agent_id: u64,
    pub name: String,
    /// The login name: lower case, unique among all accounts.
    pub email: String,
    /// For the `agent` structure of webhooks.
    pub phone: Option<String>,
    /// URL of the avatar, shown to visitors.
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
