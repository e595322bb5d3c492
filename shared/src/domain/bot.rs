//! Bot providers, which the operator registers, and bots, the connections of accounts to providers.

use std::time::Duration;

use crate::domain::timestamp::Timestamp;

pub const DEFAULT_BOT_ANSWER_TIMEOUT: Duration = Duration::from_secs(120);
/// The longest delay of an SQS message, which measures this time.
pub const MAX_BOT_ANSWER_TIMEOUT_SECONDS: u64 = 900;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provider {
    /// Chosen by the operator; part of the URL of our endpoint for bots (specification, B-1).
    pub provider_id: String,
    pub name: String,
    /// Events are sent to `<endpoint>/<token>`.
    pub endpoint: String,
    /// SHA-256, in hexadecimal, of the `Authorization` header that requests of the provider must have; none: no check.
    pub authorization_hash: Option<String>,
    pub created_at: Timestamp,
}

/// The connection of an account to a bot provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bot {
    pub bot_id: String,
    pub account_id: String,
    pub provider_id: String,
    /// Issued by the provider; the last path segment of all requests in both directions.
    pub token: String,
    /// Shown to visitors.
    pub name: String,
    /// The channels whose new chats start with the bot.
    pub channel_ids: Vec<String>,
    /// How long the bot may take to react to an accepted message before the agents get the chat; none: no limit.
    pub answer_within: Option<Duration>,
    /// Standard Webhooks secret that signs requests to the provider.
    pub signing_secret: String,
    pub created_at: Timestamp,
}

/// An event that bots receive besides CLIENT_MESSAGE (specification, Events).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BotNotice {
    /// An agent has accepted the chat.
    AgentJoined,
    /// The bot has invited an agent, but none is online.
    AgentUnavailable,
    ChatClosed,
}

impl BotNotice {
    const ALL: [Self; 3] = [Self::AgentJoined, Self::AgentUnavailable, Self::ChatClosed];

    /// The name in the Bot API.
    pub fn event(self) -> &'static str {
        match self {
            Self::AgentJoined => "AGENT_JOINED",
            Self::AgentUnavailable => "AGENT_UNAVAILABLE",
            Self::ChatClosed => "CHAT_CLOSED",
        }
    }

    /// The name in storage and in timelines.
    pub fn name(self) -> &'static str {
        match self {
            Self::AgentJoined => "agent_joined",
            Self::AgentUnavailable => "agent_unavailable",
            Self::ChatClosed => "chat_closed",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|notice| notice.name() == name)
    }
}
