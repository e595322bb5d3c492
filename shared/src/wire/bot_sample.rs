//! Sample events for testing a bot. A sample refers to a chat that does not exist.

use serde_json::Value;

use crate::domain::bot::{Bot, BotNotification, CLIENT_MESSAGE};
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::wire::json_fields::Fields;
use crate::wire::{bot, sample_data};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleBotEvent {
    ClientMessage,
    Notification(BotNotification),
}

const EVENT_NAMES: &str = "CLIENT_MESSAGE, AGENT_JOINED, AGENT_UNAVAILABLE, CHAT_CLOSED";

/// Parses the body of POST /admin/bots/{bot_id}/test. The default is CLIENT_MESSAGE.
pub fn parse_sample(body: &Value) -> Result<SampleBotEvent, Error> {
    let event = Fields::of(body)?.enumerated("event", EVENT_NAMES, SampleBotEvent::parse)?;
    Ok(event.unwrap_or(SampleBotEvent::ClientMessage))
}

impl SampleBotEvent {
    fn parse(name: &str) -> Option<Self> {
        if name == CLIENT_MESSAGE {
            return Some(Self::ClientMessage);
        }
        BotNotification::ALL.into_iter().find(|notice| notice.event() == name).map(Self::Notification)
    }

    /// Returns the body of the event. It contains the bot's account, because a provider may serve several accounts.
    pub fn body(self, receiver: &Bot, id: &str, now: Timestamp) -> Value {
        let (mut chat, message) = (sample_data::chat(now), sample_data::visitor_message(id, now));
        chat.account_id.clone_from(&receiver.account_id);
        match self {
            Self::ClientMessage => bot::client_message_json(&message, &chat, &sample_data::visitor(), true),
            Self::Notification(notice) => bot::notice_json(notice, &message, &chat),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::json;

    use super::*;
    use crate::domain::signing_secret::SigningSecrets;

    #[test]
    fn every_event_name_has_a_sample() {
        let receiver = Bot {
            bot_id: "b".into(),
            account_id: "acc".into(),
            provider_id: "p".into(),
            token: "t".into(),
            name: "Bot".into(),
            channel_ids: Vec::new(),
            answer_within: None,
            signing_secrets: SigningSecrets::default(),
            created_at: Timestamp(0),
        };
        for name in EVENT_NAMES.split(", ") {
            let sample = parse_sample(&json!({ "event": name })).unwrap();
            let body = sample.body(&receiver, "id", Timestamp(0));
            assert_eq!((&body["event"], &body["site_id"], &body["id"]), (&json!(name), &json!("acc"), &json!("id")));
        }
        let error = parse_sample(&json!({ "event": "BOT_MESSAGE" })).unwrap_err();
        assert_eq!(error.invalid_field(), Some("event"));
    }
}
