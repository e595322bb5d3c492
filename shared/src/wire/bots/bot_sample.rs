//! Sample events for testing a bot. A sample refers to a chat that does not exist.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::domain::bots::bot::{Bot, BotNotification, CLIENT_MESSAGE, CloseReason};
use crate::domain::chats::chat::Sender;
use crate::domain::chats::message_content::{Content, RichSupport};
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::deliveries::server_clause::ServerClause;
use crate::domain::timestamp::Timestamp;
use crate::wire::bots::bot_event::{BotEvent, BotNoticeName, ChannelNow};
use crate::wire::bots::client_message_sender::ClientMessageSender;
use crate::wire::fields::values::Name;
use crate::wire::sample_data;

/// The body of POST /admin/bots/{bot_id}/test.
#[derive(Deserialize, JsonSchema)]
pub struct BotTest {
    /// The type of the sample event.
    #[schemars(extend("default" = CLIENT_MESSAGE))]
    pub event: Option<SampleBotEvent>,
    /// What is tested: each clause has a request of its own.
    #[schemars(extend("default" = "accepts"))]
    clause: Option<Name<ServerClause>>,
}

impl BotTest {
    pub fn clause(&self) -> ServerClause {
        self.clause.map_or(ServerClause::Accepts, |Name(clause)| clause)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum SampleBotEvent {
    #[default]
    ClientMessage,
    AgentJoined,
    AgentUnavailable,
    ChatClosed,
    ChatReturned,
}

impl SampleBotEvent {
    /// Returns the body of the event. It contains the bot's account, because a provider may serve several accounts.
    pub fn body(self, receiver: &Bot, id: &str, now: Timestamp) -> Value {
        let (mut chat, message) = (sample_data::chat(now), sample_data::visitor_message(id, now));
        chat.account_id.clone_from(&receiver.account_id);
        let by_agent = |notification, closed_by| TimelineEntry {
            from: Sender::System,
            content: Content::BotNotification { notification, text: None, closed_by, opens_at: None },
            caused_by: Some(sample_data::agent(now).into()),
            ..message.clone()
        };
        match self {
            Self::ClientMessage => {
                let sender = ClientMessageSender::new(&sample_data::visitor(), &receiver.settings.visitor_data);
                let channel = ChannelNow { agents_online: true, shows: RichSupport { markdown: true, buttons: true } };
                json!(BotEvent::client_message(&message, &[], &chat, sender, channel))
            }
            Self::AgentJoined => {
                let joined = by_agent(BotNotification::AgentJoined, None);
                json!(BotEvent::notice(BotNoticeName::AgentJoined, &joined, &chat))
            }
            Self::AgentUnavailable => json!(BotEvent::notice(BotNoticeName::AgentUnavailable, &message, &chat)),
            Self::ChatClosed => {
                let closed = by_agent(BotNotification::ChatClosed, Some(CloseReason::Agent));
                json!(BotEvent::notice(BotNoticeName::ChatClosed, &closed, &chat))
            }
            Self::ChatReturned => {
                let returned = by_agent(BotNotification::ChatReturned, None);
                json!(BotEvent::chat_returned(&returned, &chat, std::slice::from_ref(&message)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::domain::bots::bot_settings::BotSettings;
    use crate::domain::channels::signing_secret::SigningSecrets;
    use crate::wire::fields::reader::read;

    #[test]
    fn every_event_name_has_a_sample() {
        let receiver = Bot {
            bot_id: "b".into(),
            account_id: "acc".into(),
            provider_id: "p".into(),
            token: "t".into(),
            name: "Bot".into(),
            channel_ids: Vec::new(),
            settings: BotSettings::default(),
            signing_secrets: SigningSecrets::default(),
            created_at: Timestamp(0),
        };
        for name in [CLIENT_MESSAGE, "AGENT_JOINED", "AGENT_UNAVAILABLE", "CHAT_CLOSED", "CHAT_RETURNED"] {
            let sample = read::<BotTest>(&json!({ "event": name })).unwrap().event.unwrap();
            let body = sample.body(&receiver, "id", Timestamp(0));
            assert_eq!((&body["event"], &body["site_id"], &body["id"]), (&json!(name), &json!("acc"), &json!("id")));
        }
        let error = read::<BotTest>(&json!({ "event": "BOT_MESSAGE" })).err().unwrap();
        assert_eq!(error.invalid_field(), Some("event"));
    }
}
