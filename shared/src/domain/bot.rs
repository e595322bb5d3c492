//! Bots: providers registered by the operator, and the connections that accounts make to them.

use std::time::Duration;

use crate::domain::timestamp::Timestamp;

/// How long a bot may take for its answer unless its admin says otherwise.
pub const DEFAULT_ANSWER_WITHIN: Duration = Duration::from_secs(120);
/// The longest such limit in seconds: an SQS message cannot be delayed for longer.
pub const MAX_ANSWER_WITHIN_SECONDS: u64 = 900;

/// A bot provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provider {
    /// Given by the operator, part of the address of B-1.
    pub provider_id: String,
    /// For people.
    pub name: String,
    /// Events go to `<endpoint>/<token>`.
    pub endpoint: String,
    /// SHA-256, in hex, of the `Authorization` that its requests must carry, if it must.
    pub authorization_hash: Option<String>,
    /// When it was registered.
    pub created_at: Timestamp,
}

/// A bot: one account's connection to a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bot {
    /// Identifier.
    pub bot_id: String,
    /// The account.
    pub account_id: String,
    /// The provider.
    pub provider_id: String,
    /// The provider's token, the last path segment of every request in both directions.
    pub token: String,
    /// The name visitors see.
    pub name: String,
    /// The channels it stands in front of.
    pub channel_ids: Vec<String>,
    /// How long it may say nothing after it took a message, before the agents get the chat; none: for ever.
    pub answer_within: Option<Duration>,
    /// Standard Webhooks secret of requests to the provider.
    pub signing_secret: String,
    /// When it was connected.
    pub created_at: Timestamp,
}

/// An event that is told to a bot besides CLIENT_MESSAGE (specification, Events).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BotNotice {
    /// An agent connected to the dialogue.
    AgentJoined,
    /// No agent is available to take the chat.
    AgentUnavailable,
    /// The chat was closed.
    ChatClosed,
}

impl BotNotice {
    const ALL: [Self; 3] = [Self::AgentJoined, Self::AgentUnavailable, Self::ChatClosed];

    /// The `event` of the specification.
    pub fn event(self) -> &'static str {
        match self {
            Self::AgentJoined => "AGENT_JOINED",
            Self::AgentUnavailable => "AGENT_UNAVAILABLE",
            Self::ChatClosed => "CHAT_CLOSED",
        }
    }

    /// The name in storage and in a timeline.
    pub fn name(self) -> &'static str {
        match self {
            Self::AgentJoined => "agent_joined",
            Self::AgentUnavailable => "agent_unavailable",
            Self::ChatClosed => "chat_closed",
        }
    }

    /// The notice of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|notice| notice.name() == name)
    }
}
