//! Bots and their providers. The operator registers the providers; a bot is the connection of an account to a provider.

use std::time::Duration;

use crate::domain::timestamp::Timestamp;

pub const DEFAULT_BOT_ANSWER_TIMEOUT: Duration = Duration::from_secs(120);
/// The timeout is measured with a delayed SQS message, and SQS delays a message by at most 15 minutes.
pub const MAX_BOT_ANSWER_TIMEOUT_SECONDS: u64 = 900;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provider {
    /// Chosen by the operator. It is part of the URL to which the provider sends its events (specification, B-1).
    pub provider_id: String,
    pub name: String,
    /// Events are sent to `<endpoint>/<token>`.
    pub endpoint: String,
    /// SHA-256, in hexadecimal, of the `Authorization` header that the provider must send. `None` means that the header
    /// is not checked.
    pub authorization_hash: Option<String>,
    pub created_at: Timestamp,
}

/// The connection of an account to a bot provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bot {
    pub bot_id: String,
    pub account_id: String,
    pub provider_id: String,
    /// Issued by the provider. It is the last path segment of the URL of every request, in both directions.
    pub token: String,
    /// Shown to visitors.
    pub name: String,
    /// The channels whose new chats start with the bot.
    pub channel_ids: Vec<String>,
    /// The time within which the bot must react to an accepted message. When it has passed without a reaction, the chat
    /// is handed over to the agents. `None` means that there is no limit.
    pub answer_within: Option<Duration>,
    /// The secret that signs requests to the provider, in the format of Standard Webhooks (`whsec_...`).
    pub signing_secret: String,
    pub created_at: Timestamp,
}

/// An event other than CLIENT_MESSAGE that the service sends to bots (specification, Events).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BotNotice {
    /// An agent has accepted the chat.
    AgentJoined,
    /// The bot has invited an agent, but no eligible agent is online.
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
