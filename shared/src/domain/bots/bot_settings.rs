//! What an admin can set for a bot. Everything beyond the specification is off until it is switched on.

use std::time::Duration;

use crate::domain::bots::turn::TurnSettings;
use crate::domain::named::named;

pub const DEFAULT_BOT_ANSWER_TIMEOUT: Duration = Duration::from_secs(120);
/// The longest time limit that can be set for a bot's reaction. The limit is enforced with a delayed SQS message, and
/// SQS can delay a message by at most 15 minutes.
pub const MAX_BOT_ANSWER_TIMEOUT_SECONDS: u64 = 900;
/// The limits of [`BotSettings::agent_wait`].
pub const MIN_AGENT_WAIT_SECONDS: u64 = 10;
pub const MAX_AGENT_WAIT_SECONDS: u64 = 900;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BotSettings {
    /// How long the bot has to react to a message that it has accepted. If the bot does not react in time, the chat is
    /// handed over to the agents. `None` means that there is no time limit.
    pub answer_within: Option<Duration>,
    /// How long a chat waits for an agent after the bot's INVITE_AGENT before it returns to the bot. `None` means that
    /// it stays with the agents.
    pub agent_wait: Option<Duration>,
    pub turns: TurnSettings,
    /// What the bot is told about visitors besides name and page address, without repetitions.
    pub visitor_data: Vec<VisitorData>,
    /// Whether a visitor who asks for a person gets the agents, whatever the bot does; see
    /// [`asks_for_person`](crate::domain::bots::human_words::asks_for_person).
    pub human_words: bool,
    /// Whether widgets tell the visitor that a bot answers.
    pub disclosure: bool,
    /// Whether the bot reads along while an agent has its chat, and may suggest answers.
    pub standby: bool,
}

impl Default for BotSettings {
    fn default() -> Self {
        Self {
            answer_within: Some(DEFAULT_BOT_ANSWER_TIMEOUT),
            agent_wait: None,
            turns: TurnSettings::NONE,
            visitor_data: Vec::new(),
            human_words: false,
            disclosure: true,
            standby: false,
        }
    }
}

named! {
    /// Data about a visitor that a bot gets only if the admin allows it.
    pub enum VisitorData {
        /// The integrator's id of the visitor (`sender.id` of the channel API).
        ExternalId = "external_id",
        /// E-mail address and phone number.
        Contacts = "contacts",
        /// The visitor's id in the account's systems, which the page has set.
        UserToken = "user_token",
        /// Title of the page, and the page from which the visitor came to the site.
        Page = "page",
        /// What the page and the contacts form have set for the agents to see.
        CustomData = "custom_data",
        /// The language of the visitor's browser.
        Language = "language",
    }
}
