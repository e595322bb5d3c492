//! Bots and their providers. The operator registers the providers; a bot is the connection of an account to a provider.

use crate::domain::named::named;

use crate::domain::bots::bot_settings::BotSettings;
use crate::domain::channels::signing_secret::SigningSecrets;
use crate::domain::timestamp::Timestamp;

/// The text in a provider's endpoint that is replaced with the token of the bot.
pub const TOKEN_PLACEHOLDER: &str = "{token}";
/// The event that brings a visitor's message to a bot (specification, Events).
pub const CLIENT_MESSAGE: &str = "CLIENT_MESSAGE";
/// The name of a bot whose admin chose none.
pub const DEFAULT_BOT_NAME: &str = "Bot";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provider {
    /// The id that the operator chose. It is part of the URL that the provider sends its events to (specification,
    /// B-1).
    pub provider_id: String,
    pub name: String,
    /// The URL of the provider. Each [`TOKEN_PLACEHOLDER`] in it is replaced with the token of the bot. If there is
    /// none, the URL is a base URL, and events are sent to `<endpoint>/<token>`.
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
    pub settings: BotSettings,
    pub signing_secrets: SigningSecrets,
    pub created_at: Timestamp,
}

named! {
    /// A notification to a bot: any event that the service sends to bots except the visitor's messages (specification,
    /// Events).
    pub enum BotNotification {
        AgentJoined = "agent_joined",
        /// The bot has invited an agent, but no eligible agent is online.
        AgentUnavailable = "agent_unavailable",
        ChatClosed = "chat_closed",
        /// An agent has given the chat to the bot.
        ChatReturned = "chat_returned",
        /// The visitor has asked for a callback. The bot gets it as a CLIENT_MESSAGE, because the specification has no
        /// event for it.
        CallbackRequested = "callback_requested",
    }
}

named! {
    /// Who closed a chat.
    pub enum CloseReason {
        Agent = "agent",
        /// The chat was idle for the account's limit.
        Idle = "idle",
        Bot = "bot",
    }
}

impl BotNotification {
    /// Returns the name of the event in the Bot API.
    pub fn event(self) -> &'static str {
        match self {
            Self::AgentJoined => "AGENT_JOINED",
            Self::AgentUnavailable => "AGENT_UNAVAILABLE",
            Self::ChatClosed => "CHAT_CLOSED",
            Self::ChatReturned => "CHAT_RETURNED",
            Self::CallbackRequested => CLIENT_MESSAGE,
        }
    }
}
