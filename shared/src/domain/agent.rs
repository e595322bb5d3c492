//! Accounts and the people who work in them.

use crate::domain::timestamp::Timestamp;

/// What an agent may do beyond answering chats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Answers chats.
    Agent,
    /// Answers chats and manages the account.
    Admin,
}

impl Role {
    /// The wire and storage name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Admin => "admin",
        }
    }

    /// The role of that name.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Agent, Self::Admin].into_iter().find(|role| role.name() == name)
    }
}

/// A person who answers chats. Ids are sequential in an account, from 1; 0 stands for bots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    /// The account the agent works in.
    pub account_id: String,
    /// Sequential in the account.
    pub agent_id: u64,
    /// Shown to visitors.
    pub name: String,
    /// What the agent signs in with, lower case, unique in the whole service.
    pub email: String,
    /// For the webhooks' `agent` structure.
    pub phone: Option<String>,
    /// Avatar address, shown to visitors.
    pub photo: Option<String>,
    /// What the agent may do.
    pub role: Role,
    /// When the agent was added.
    pub created_at: Timestamp,
}

/// The agent as a chat and its messages remember them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Author {
    /// Sequential in the account.
    pub agent_id: u64,
    /// The name at the time of writing.
    pub name: String,
    /// The avatar at the time of writing.
    pub photo: Option<String>,
}

impl From<Agent> for Author {
    fn from(Agent { agent_id, name, photo, .. }: Agent) -> Self {
        Self { agent_id, name, photo }
    }
}
