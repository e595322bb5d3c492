//! Builds sample events for testing a webhook. All except `test` describe a chat that does not exist. These events
//! are built by [`WebhookPayload`], so they contain every field of a real event.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::domain::accounts::agent_presence::AgentStatus;
use crate::domain::accounts::status_watch::{StatusChange, StatusOwner};
use crate::domain::calls::phone_call::{CallKind, CallStatus, PhoneCall};
use crate::domain::deliveries::server_clause::ServerClause;
use crate::domain::deliveries::webhook::WebhookDispatch;
use crate::domain::deliveries::webhook_event::WebhookEvent;
use crate::domain::named::Named;
use crate::domain::timestamp::Timestamp;
use crate::wire::fields::values::Name;
use crate::wire::sample_data;
use crate::wire::webhooks::webhook_event::{StatusChanged, WebhookPayload};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleEvent {
    /// The `test` event. It has no data and is only used to check that the URL works.
    Test,
    Event(WebhookEvent),
}

const SAMPLE_MESSAGE_ID: &str = "00000000-0000-4000-8000-000000000001";

/// The body of POST `/admin/settings/webhooks/{webhook_id}/test`.
#[derive(Deserialize, JsonSchema)]
pub struct WebhookTestRequest {
    /// The type of the sample event.
    #[schemars(extend("default" = "test"))]
    event: Option<Name<SampleEvent>>,
    /// What is tested: each clause has a request of its own. Only servers have other clauses than `accepts`.
    #[schemars(extend("default" = "accepts"))]
    clause: Option<Name<ServerClause>>,
}

impl WebhookTestRequest {
    pub fn event(&self) -> SampleEvent {
        self.event.map_or(SampleEvent::Test, |Name(event)| event)
    }

    pub fn clause(&self) -> ServerClause {
        self.clause.map_or(ServerClause::Accepts, |Name(clause)| clause)
    }
}

impl Named for SampleEvent {
    const TYPE_NAME: &'static str = "SampleWebhookEvent";
    const ALL: &'static [Self] = &[
        Self::Test,
        Self::Event(WebhookEvent::AgentStatusChanged),
        Self::Event(WebhookEvent::AnswerDueSoon),
        Self::Event(WebhookEvent::BotHandedOver),
        Self::Event(WebhookEvent::CallEvent),
        Self::Event(WebhookEvent::ChannelStatusChanged),
        Self::Event(WebhookEvent::ChatAccepted),
        Self::Event(WebhookEvent::ChatAssigned),
        Self::Event(WebhookEvent::ChatEnded),
        Self::Event(WebhookEvent::ChatFinished),
        Self::Event(WebhookEvent::ChatJoined),
        Self::Event(WebhookEvent::ChatOpened),
        Self::Event(WebhookEvent::ChatRated),
        Self::Event(WebhookEvent::ChatTransferred),
        Self::Event(WebhookEvent::ChatUpdated),
        Self::Event(WebhookEvent::ChatWaiting),
        Self::Event(WebhookEvent::DeliveredLate),
        Self::Event(WebhookEvent::DeliveryFailed),
        Self::Event(WebhookEvent::Message),
        Self::Event(WebhookEvent::OfflineMessage),
        Self::Event(WebhookEvent::VisitorBlacklisted),
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Test => "test",
            Self::Event(event) => event.name(),
        }
    }
}

impl SampleEvent {
    pub fn body(self, webhook_id: &str, now: Timestamp) -> Value {
        match self {
            Self::Test => json!({ "event_name": "test", "widget_id": "" }),
            Self::Event(event) => event_body(event, webhook_id, now),
        }
    }
}

fn event_body(event: WebhookEvent, webhook_id: &str, now: Timestamp) -> Value {
    let agent = sample_data::agent(now);
    if event.is_about_account() {
        let channel_id = sample_data::chat(now).channel_id;
        let is_agent = event == WebhookEvent::AgentStatusChanged;
        let owner = if is_agent { StatusOwner::Agent(agent.agent_id) } else { StatusOwner::Channel(channel_id) };
        let change = StatusChange { owner, status: AgentStatus::Online };
        return json!(StatusChanged::new((event, 7, now), &change, Some(&agent)));
    }
    let timeline =
        [sample_data::visitor_message(SAMPLE_MESSAGE_ID, now), sample_data::agent_message(SAMPLE_MESSAGE_ID, now)];
    let webhook_dispatch = WebhookDispatch {
        event,
        webhook_id: webhook_id.to_owned(),
        agent_id: Some(agent.agent_id),
        assign_to: Some("https://crm.example/cards/1".to_owned()),
        call: Some(call()),
        reports_rating: event == WebhookEvent::ChatRated,
        message_seq: None,
        status: None,
    };
    let (chat, visitor) = (sample_data::chat(now), sample_data::visitor());
    let invite = Some("Can I help you?".to_owned());
    let agents = &[agent];
    WebhookPayload {
        webhook_dispatch: &webhook_dispatch,
        entry: (7, now),
        chat: &chat,
        visitor: &visitor,
        agents,
        timeline: &timeline,
        invite,
    }
    .body()
}

fn call() -> PhoneCall {
    let record_url = Some("https://example.com/record.mp3".to_owned());
    PhoneCall { kind: CallKind::Callback, phone: "+1 202 555 0102".to_owned(), status: CallStatus::End(record_url) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::wire::webhooks::thin_event::ThinEvent;

    /// Returns the required and optional fields of an event (specification, part C).
    fn specified_fields(event: WebhookEvent) -> Vec<&'static str> {
        let chat = ["event_name", "chat_id", "widget_id", "visitor", "department", "session", "page", "analytics"];
        let more: &[&str] = match event {
            WebhookEvent::AgentStatusChanged => return vec!["event_name", "seq", "timestamp", "agent", "status"],
            WebhookEvent::ChannelStatusChanged => {
                return vec!["event_name", "seq", "timestamp", "widget_id", "status"];
            }
            WebhookEvent::CallEvent => &["agent", "call"],
            WebhookEvent::ChatAccepted | WebhookEvent::ChatUpdated => &["agent", "user_token"],
            WebhookEvent::ChatAssigned => &["agent", "assign_to", "user_token"],
            WebhookEvent::ChatFinished => &["agents", "chat", "user_token"],
            WebhookEvent::OfflineMessage => &["offline_message_id", "message", "user_token"],
            WebhookEvent::ChatRated => &["agent", "rate", "seq", "timestamp", "user_token"],
            WebhookEvent::DeliveredLate | WebhookEvent::DeliveryFailed | WebhookEvent::Message => {
                &["agent", "message", "seq", "timestamp", "user_token"]
            }
            WebhookEvent::AnswerDueSoon
            | WebhookEvent::ChatJoined
            | WebhookEvent::BotHandedOver
            | WebhookEvent::ChatEnded
            | WebhookEvent::ChatOpened
            | WebhookEvent::ChatTransferred
            | WebhookEvent::ChatWaiting
            | WebhookEvent::VisitorBlacklisted => &["agent", "seq", "timestamp", "user_token"],
        };
        let is_offline = event == WebhookEvent::OfflineMessage;
        let fields = chat.into_iter().filter(|field| !is_offline || !["chat_id", "department"].contains(field));
        fields.chain(more.iter().copied()).collect()
    }

    #[test]
    fn sample_has_every_field_of_its_event() {
        for &event in WebhookEvent::ALL {
            let body = SampleEvent::Event(event).body("w", Timestamp(0));
            assert_eq!(json!(ThinEvent::of(&body).unwrap())["event_name"], event.name());
            let fields = body.as_object().unwrap();
            for name in specified_fields(event) {
                assert!(fields.contains_key(name), "{name} of {}", event.name());
            }
            for (structure, names) in [
                ("visitor", &["name", "email", "phone", "number", "description", "social", "chats_count"][..]),
                ("agent", &["id", "name", "email", "phone"]),
                ("department", &["id", "name"]),
                ("session", &["geoip", "utm", "utm_json", "ip_addr", "user_agent"]),
                ("page", &["url"]),
                ("call", &["type", "phone", "status", "record_url"]),
                ("chat", &["messages", "rate", "blacklisted"]),
            ] {
                let Some(object) = fields.get(structure) else { continue };
                for name in names {
                    assert!(object.get(name).is_some_and(|value| !value.is_null()), "{structure}.{name}: {body}");
                }
            }
        }
    }

    #[test]
    fn every_event_name_has_a_sample() {
        for &sample in SampleEvent::ALL {
            assert_eq!(sample.body("w", Timestamp(0))["event_name"], sample.name());
        }
        assert_eq!(SampleEvent::names()[1..], WebhookEvent::names());
    }
}
