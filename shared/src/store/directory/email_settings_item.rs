//! What an account sends by e-mail, as a part of the stored settings.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::domain::email::email_settings::EmailSettings;
use crate::domain::email::mailbox::Mailbox;

#[derive(Serialize, Deserialize)]
pub(super) struct EmailSettingsItem {
    sender_name: String,
    transcript_to: Vec<String>,
    transcript_to_visitor: bool,
    answers_to_visitor: bool,
    away_seconds: u64,
}

impl From<&EmailSettings> for EmailSettingsItem {
    fn from(settings: &EmailSettings) -> Self {
        let EmailSettings { sender_name, transcript_to, transcript_to_visitor, answers_to_visitor, away } = settings;
        Self {
            sender_name: sender_name.clone(),
            transcript_to: transcript_to.iter().map(|mailbox| mailbox.as_str().to_owned()).collect(),
            transcript_to_visitor: *transcript_to_visitor,
            answers_to_visitor: *answers_to_visitor,
            away_seconds: away.as_secs(),
        }
    }
}

impl From<EmailSettingsItem> for EmailSettings {
    /// An address that the service no longer accepts is left out, because an error would make all requests of the
    /// account fail.
    fn from(item: EmailSettingsItem) -> Self {
        let EmailSettingsItem { sender_name, transcript_to, transcript_to_visitor, answers_to_visitor, away_seconds } =
            item;
        Self {
            sender_name,
            transcript_to: transcript_to.iter().filter_map(|address| Mailbox::parse(address)).collect(),
            transcript_to_visitor,
            answers_to_visitor,
            away: Duration::from_secs(away_seconds),
        }
    }
}
