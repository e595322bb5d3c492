//! The stored form of a bot's settings: attributes of the bot's item. Each is an attribute of its own, so that the
//! audit log names what was changed.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::domain::bots::bot_settings::{BotSettings, DEFAULT_BOT_ANSWER_TIMEOUT, VisitorData};
use crate::domain::bots::turn::TurnSettings;
use crate::error::Error;
use crate::store::table::ExpressionValues;
use crate::store::to_attribute;

/// An attribute that is absent has its default value.
#[derive(Serialize, Deserialize)]
pub(super) struct BotSettingsAttributes {
    /// The bot's answer limit in seconds. 0 means that there is no limit.
    #[serde(default)]
    answer_within: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent_wait_seconds: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    quiet_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    quiet_max_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    visitor_data: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    human_words: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    disclosure: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    standby: Option<bool>,
}

impl BotSettingsAttributes {
    /// Returns the attributes with their names in an expression.
    pub fn expression_values(&self) -> Result<ExpressionValues, Error> {
        Ok(vec![
            (":answer_within", to_attribute(&self.answer_within)?),
            (":agent_wait_seconds", to_attribute(&self.agent_wait_seconds)?),
            (":quiet_ms", to_attribute(&self.quiet_ms)?),
            (":quiet_max_ms", to_attribute(&self.quiet_max_ms)?),
            (":visitor_data", to_attribute(&self.visitor_data)?),
            (":human_words", to_attribute(&self.human_words)?),
            (":disclosure", to_attribute(&self.disclosure)?),
            (":standby", to_attribute(&self.standby)?),
        ])
    }
}

impl From<&BotSettings> for BotSettingsAttributes {
    fn from(settings: &BotSettings) -> Self {
        let BotSettings { answer_within, agent_wait, turns, visitor_data, human_words, disclosure, standby } = settings;
        let [quiet_ms, quiet_max_ms] = turns.milliseconds();
        Self {
            answer_within: Some(answer_within.map_or(0, |limit| limit.as_secs())),
            agent_wait_seconds: agent_wait.map(|wait| wait.as_secs()),
            quiet_ms: Some(quiet_ms),
            quiet_max_ms: Some(quiet_max_ms),
            visitor_data: visitor_data.iter().map(|data| data.name().to_owned()).collect(),
            human_words: Some(*human_words),
            disclosure: Some(*disclosure),
            standby: Some(*standby),
        }
    }
}

impl From<BotSettingsAttributes> for BotSettings {
    fn from(stored: BotSettingsAttributes) -> Self {
        let default = Self::default();
        Self {
            answer_within: match stored.answer_within {
                None => Some(DEFAULT_BOT_ANSWER_TIMEOUT),
                Some(0) => None,
                Some(seconds) => Some(Duration::from_secs(seconds)),
            },
            agent_wait: stored.agent_wait_seconds.map(Duration::from_secs),
            turns: TurnSettings {
                quiet: stored.quiet_ms.map_or(default.turns.quiet, Duration::from_millis),
                max: stored.quiet_max_ms.map_or(default.turns.max, Duration::from_millis),
            },
            // A name that this version does not know gives the bot nothing.
            visitor_data: stored.visitor_data.iter().filter_map(|name| VisitorData::parse(name)).collect(),
            human_words: stored.human_words.unwrap_or(default.human_words),
            disclosure: stored.disclosure.unwrap_or(default.disclosure),
            standby: stored.standby.unwrap_or(default.standby),
        }
    }
}
