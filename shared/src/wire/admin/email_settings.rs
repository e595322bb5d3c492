//! The part of the settings that says what an account sends by e-mail.

use std::time::Duration;

use schemars::{JsonSchema, json_schema};
use serde::{Deserialize, Serialize};

use crate::domain::email::email_settings::{
    self, DEFAULT_AWAY, MAX_AWAY_MINUTES, MAX_SENDER_NAME_CHARS, MAX_TRANSCRIPT_RECIPIENTS,
};
use crate::domain::email::mailbox::Mailbox;
use crate::wire::fields::values::{List, Text, Whole, inline_schema};

/// The longest address (RFC 5321).
const MAX_ADDRESS_CHARS: usize = 254;

/// What the account sends by e-mail. It is possible only if the operator has set up a domain for e-mail.
#[derive(Clone, Deserialize, JsonSchema)]
pub(super) struct EmailSettingsChange {
    /// The name that the recipients see.
    sender_name: Text<MAX_SENDER_NAME_CHARS>,
    /// The addresses that get the transcript of each closed chat in which an agent took part.
    transcript_to: Option<List<Recipient, MAX_TRANSCRIPT_RECIPIENTS>>,
    /// Whether visitors get the transcript, too. False by default.
    transcript_to_visitor: Option<bool>,
    /// Whether visitors who have left a widget get the agents' answers by e-mail, and can reply. False by default.
    answers_to_visitor: Option<bool>,
    /// How many minutes a visitor must have been away before answers are sent. 5 by default.
    away_minutes: Option<Whole<1, MAX_AWAY_MINUTES>>,
}

impl From<EmailSettingsChange> for email_settings::EmailSettings {
    fn from(change: EmailSettingsChange) -> Self {
        let EmailSettingsChange {
            sender_name: Text(sender_name),
            transcript_to,
            transcript_to_visitor,
            answers_to_visitor,
            away_minutes,
        } = change;
        let recipients = transcript_to.map(|List(recipients)| recipients).unwrap_or_default();
        Self {
            sender_name,
            transcript_to: recipients.into_iter().map(|Recipient(mailbox)| mailbox).collect(),
            transcript_to_visitor: transcript_to_visitor.unwrap_or(false),
            answers_to_visitor: answers_to_visitor.unwrap_or(false),
            away: away_minutes.map_or(DEFAULT_AWAY, |Whole(minutes)| Duration::from_secs(minutes * 60)),
        }
    }
}

#[derive(Clone, Deserialize)]
#[serde(try_from = "String")]
struct Recipient(Mailbox);

impl TryFrom<String> for Recipient {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let text = Some(text).filter(|text| text.len() <= MAX_ADDRESS_CHARS);
        let mailbox = text.and_then(|text| Mailbox::parse(&text));
        mailbox.map(Self).ok_or("must be an e-mail address such as team@shop.example")
    }
}

inline_schema!(
    Recipient,
    "Recipient",
    json_schema!({ "type": "string", "maxLength": MAX_ADDRESS_CHARS, "examples": ["team@shop.example"] })
);

/// What the account sends by e-mail.
#[derive(Serialize, JsonSchema)]
pub(super) struct EmailSettings {
    sender_name: String,
    #[schemars(length(max = MAX_TRANSCRIPT_RECIPIENTS))]
    transcript_to: Vec<String>,
    transcript_to_visitor: bool,
    answers_to_visitor: bool,
    #[schemars(range(min = 1, max = MAX_AWAY_MINUTES))]
    away_minutes: u64,
}

impl From<&email_settings::EmailSettings> for EmailSettings {
    fn from(settings: &email_settings::EmailSettings) -> Self {
        let email_settings::EmailSettings {
            sender_name,
            transcript_to,
            transcript_to_visitor,
            answers_to_visitor,
            away,
        } = settings;
        Self {
            sender_name: sender_name.clone(),
            transcript_to: transcript_to.iter().map(|mailbox| mailbox.as_str().to_owned()).collect(),
            transcript_to_visitor: *transcript_to_visitor,
            answers_to_visitor: *answers_to_visitor,
            away_minutes: away.as_secs() / 60,
        }
    }
}
