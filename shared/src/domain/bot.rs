//! Bots and their providers. The operator registers the providers; a bot is the connection of an account to a provider.

use std::time::Duration;

use crate::domain::timestamp::Timestamp;

pub const DEFAULT_BOT_ANSWER_TIMEOUT: Duration = Duration::from_secs(120);
/// The maximum time limit for a bot's reaction. The time is measured with a delayed SQS message, and SQS delays a
/// message by at most 15 minutes.
pub const MAX_BOT_ANSWER_TIMEOUT_SECONDS: u64 = 900;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provider {
    /// The id, which the operator chooses. It is part of the URL to which the provider sends its events (specification,
    /// B-1).
    pub provider_id: String,
    pub name: String,
    /// The base URL of the provider. Events are sent to `<endpoint>/<token>`, where `token` is the token of the bot.
    pub endpoint: String,
    /// The SHA-256 hash, in hexadecimal, of the `Authorization` header that the provider must send. `None` means that
    /// the header is not checked.
    pub authorization_hash: Option<String>,
    pub created_at: Timestamp,
}

/// The connection of an account to a bot provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bot {
    pub bot_id: String,
    pub account_id: String,
    pub provider_id: String,
    /// The token that the provider issued for this bot. It is the last path segment of the URL of every request, both
    /// from and to the provider.
    pub token: String,
    /// The name that visitors see.
    pub name: String,
    /// The ids of the channels whose new chats start with this bot.
    pub channel_ids: Vec<String>,
    /// The time within which the bot must react to a message that it has accepted. If the bot does not react in time,
    /// the chat is handed over to the agents. `None` means that there is no time limit.
    pub answer_within: Option<Duration>,
    /// The secret that signs requests to the provider, in the format of Standard Webhooks (`whsec_...`).
    pub signing_secret: String,
    pub created_at: Timestamp,
}

/// A notice to a bot: any event that the service sends to bots except CLIENT_MESSAGE (specification, Events).
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

    /// The name of the event in the Bot API.
    pub fn event(self) -> &'static str {
        match self {
            Self::AgentJoined => "AGENT_JOINED",
            Self::AgentUnavailable => "AGENT_UNAVAILABLE",
            Self::ChatClosed => "CHAT_CLOSED",
        }
    }

    /// The name that represents this notice in stored items and in the timelines that agents see.
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
