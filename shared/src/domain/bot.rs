//! Bots and their providers. The operator registers the providers; a bot is the connection of an account to a provider.

use std::time::Duration;

use crate::domain::signing_secret::SigningSecrets;
use crate::domain::timestamp::Timestamp;

pub const DEFAULT_BOT_ANSWER_TIMEOUT: Duration = Duration::from_secs(120);
/// The longest time limit that can be set for a bot's reaction. The limit is enforced with a delayed SQS message, and
/// SQS can delay a message by at most 15 minutes.
pub const MAX_BOT_ANSWER_TIMEOUT_SECONDS: u64 = 900;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provider {
    /// The id that the operator chose. It is part of the URL that the provider sends its events to (specification,
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

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bot {
    pub bot_id: String,
    pub account_id: String,
    pub provider_id: String,
    /// The token that the provider issued for this bot. It is the last path segment of the URL of every request to and
    /// from the provider.
    pub token: String,
    /// The name that visitors see.
    pub name: String,
    /// The ids of the channels where new chats start with this bot.
    pub channel_ids: Vec<String>,
    /// How long the bot has to react to a message that it has accepted. If the bot does not react in time, the chat is
    /// handed over to the agents. `None` means that there is no time limit.
    pub answer_within: Option<Duration>,
    pub signing_secrets: SigningSecrets,
    pub created_at: Timestamp,
}

/// A notification to a bot: any event that the service sends to bots except CLIENT_MESSAGE (specification, Events).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BotNotification {
    AgentJoined,
    /// The bot has invited an agent, but no eligible agent is online.
    AgentUnavailable,
    ChatClosed,
}

impl BotNotification {
    pub(crate) const ALL: [Self; 3] = [Self::AgentJoined, Self::AgentUnavailable, Self::ChatClosed];

    /// Returns the name of the event in the Bot API.
    pub fn event(self) -> &'static str {
        match self {
            Self::AgentJoined => "AGENT_JOINED",
            Self::AgentUnavailable => "AGENT_UNAVAILABLE",
            Self::ChatClosed => "CHAT_CLOSED",
        }
    }

    /// Returns the name of this notification in stored items and in the timelines that agents see.
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
