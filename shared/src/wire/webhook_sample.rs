//! Sample events for testing a webhook. A sample describes a chat that does not exist. It is built by
//! [`WebhookPayload`], so it contains every field of a real event.

use serde_json::{Value, json};

use crate::domain::agent::{Agent, AgentSnapshot, Role};
use crate::domain::chat::{Chat, Rating, ReceiversFailingUntil, Sender};
use crate::domain::chat_state::ChatState;
use crate::domain::department::ChatDepartment;
use crate::domain::message_content::Content;
use crate::domain::phone_call::{CallKind, CallStatus, PhoneCall};
use crate::domain::rate_limit::RateWindow;
use crate::domain::timeline_entry::TimelineEntry;
use crate::domain::timestamp::Timestamp;
use crate::domain::visitor::{OverriddenIntegratorValues, ProfileSources, Visitor, VisitorChanges, VisitorProfile};
use crate::domain::webhook::WebhookDispatch;
use crate::domain::webhook_event::WebhookEvent;
use crate::error::Error;
use crate::wire::json_fields::Fields;
use crate::wire::webhook::WebhookPayload;

/// The event to send when an admin tests a webhook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleEvent {
    /// The `test` event. It has no data and is only used to check that the URL works.
    Test,
    ChatEvent(WebhookEvent),
}

/// The names that [`SampleEvent::parse`] accepts.
const EVENT_NAMES: &str =
    "test, call_event, chat_accepted, chat_assigned, chat_finished, chat_updated, offline_message";

const SAMPLE_ACCOUNT_ID: &str = "sample";
const SAMPLE_CHANNEL_ID: &str = "sample";
/// The number of both the sample chat and the sample visitor. It is larger than the number of any real chat or visitor.
const SAMPLE_NUMBER: u64 = 1_000_000_000;

/// Parses the body of POST /admin/settings/webhooks/{webhook_id}/test. The default is the `test` event.
pub fn parse_sample(body: &Value) -> Result<SampleEvent, Error> {
    Ok(Fields::of(body)?.enumerated("event", EVENT_NAMES, SampleEvent::parse)?.unwrap_or(SampleEvent::Test))
}

impl SampleEvent {
    pub fn parse(name: &str) -> Option<Self> {
        if name == "test" { Some(Self::Test) } else { WebhookEvent::parse(name).map(Self::ChatEvent) }
    }

    pub fn body(self, webhook_id: &str, now: Timestamp) -> Value {
        match self {
            Self::Test => json!({ "event_name": "test", "widget_id": "" }),
            Self::ChatEvent(event) => event_body(event, webhook_id, now),
        }
    }
}

fn event_body(event: WebhookEvent, webhook_id: &str, now: Timestamp) -> Value {
    let agent = agent(now);
    let author = AgentSnapshot::from(agent.clone());
    let timeline = [
        entry(1, Sender::Visitor, "Hello, this is a sample message.", now),
        entry(2, Sender::Agent(author.clone()), "Hello, this is a sample answer.", now),
    ];
    let webhook_dispatch = WebhookDispatch {
        event,
        webhook_id: webhook_id.to_owned(),
        agent_id: Some(agent.agent_id),
        assign_to: Some("https://crm.example/cards/1".to_owned()),
        call: Some(call()),
    };
    let (chat, visitor) = (chat(author, now), visitor());
    let invite = Some("Can I help you?".to_owned());
    let agents = &[agent];
    WebhookPayload {
        webhook_dispatch: &webhook_dispatch,
        chat: &chat,
        visitor: &visitor,
        agents,
        timeline: &timeline,
        invite,
    }
    .body()
}

fn agent(now: Timestamp) -> Agent {
    Agent {
        account_id: SAMPLE_ACCOUNT_ID.to_owned(),
        agent_id: 1,
        name: "Sample Agent".to_owned(),
        email: "agent@example.com".to_owned(),
        phone: Some("+1 202 555 0101".to_owned()),
        photo: None,
        role: Role::Agent,
        created_at: now,
    }
}

fn call() -> PhoneCall {
    let record_url = Some("https://example.com/record.mp3".to_owned());
    PhoneCall { kind: CallKind::Callback, phone: "+1 202 555 0102".to_owned(), status: CallStatus::End(record_url) }
}

fn chat(author: AgentSnapshot, now: Timestamp) -> Chat {
    Chat {
        account_id: SAMPLE_ACCOUNT_ID.to_owned(),
        chat_id: SAMPLE_NUMBER,
        state: ChatState::Active(author),
        version: 1,
        channel_id: SAMPLE_CHANNEL_ID.to_owned(),
        channel_name: "Sample channel".to_owned(),
        external_id: "sample".to_owned(),
        has_numeric_id: false,
        invite_hash: None,
        visitor_number: SAMPLE_NUMBER,
        visitor_name: "Sample Visitor".to_owned(),
        department: Some(ChatDepartment { department_id: 1, name: "Sample department".to_owned() }),
        participants: vec![1],
        bot_id: None,
        bot_event_at: None,
        seq: 2,
        opened_at: now,
        updated_at: now,
        last_message: None,
        typing_started_at: None,
        failing_until: ReceiversFailingUntil::default(),
        rate: RateWindow::default(),
        rating: Some(Rating::Positive),
        retention_days: None,
    }
}

fn visitor() -> Visitor {
    Visitor {
        account_id: SAMPLE_ACCOUNT_ID.to_owned(),
        channel_id: SAMPLE_CHANNEL_ID.to_owned(),
        external_id: "sample".to_owned(),
        number: SAMPLE_NUMBER,
        profile: VisitorProfile {
            name: Some("Sample Visitor".to_owned()),
            phone: Some("+1 202 555 0102".to_owned()),
            email: Some("visitor@example.com".to_owned()),
            photo: None,
            url: Some("https://example.com/page".to_owned()),
            description: Some("Sent by a test of the webhook.".to_owned()),
        },
        sources: ProfileSources::default(),
        integrator_values: OverriddenIntegratorValues::default(),
        chats: 1,
        blacklisted: false,
        open_chat: Some(SAMPLE_NUMBER),
        last_chat: Some(SAMPLE_NUMBER),
        retain_until: None,
        changes: VisitorChanges::default(),
    }
}

fn entry(seq: u64, from: Sender, text: &str, now: Timestamp) -> TimelineEntry {
    TimelineEntry {
        account_id: SAMPLE_ACCOUNT_ID.to_owned(),
        chat_id: SAMPLE_NUMBER,
        seq,
        id: "00000000-0000-4000-8000-000000000001".to_owned(),
        from,
        content: Content::text(text),
        at: now,
        webhook_dispatch: None,
        retain_until: None,
        delivery: None,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// Returns the required and optional fields of an event (specification, part C).
    fn specified_fields(event: WebhookEvent) -> Vec<&'static str> {
        let chat = ["event_name", "chat_id", "widget_id", "visitor", "department", "session", "page", "analytics"];
        let more: &[&str] = match event {
            WebhookEvent::CallEvent => &["agent", "call"],
            WebhookEvent::ChatAccepted | WebhookEvent::ChatUpdated => &["agent", "user_token"],
            WebhookEvent::ChatAssigned => &["agent", "assign_to", "user_token"],
            WebhookEvent::ChatFinished => &["agents", "chat", "user_token"],
            WebhookEvent::OfflineMessage => &["offline_message_id", "message", "user_token"],
        };
        let is_offline = event == WebhookEvent::OfflineMessage;
        let fields = chat.into_iter().filter(|field| !is_offline || !["chat_id", "department"].contains(field));
        fields.chain(more.iter().copied()).collect()
    }

    #[test]
    fn sample_has_every_field_of_its_event() {
        for event in WebhookEvent::ALL {
            let body = SampleEvent::ChatEvent(event).body("w", Timestamp(0));
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
        for name in EVENT_NAMES.split(", ") {
            let sample = SampleEvent::parse(name).unwrap();
            assert_eq!(sample.body("w", Timestamp(0))["event_name"], name);
        }
        assert_eq!(EVENT_NAMES.split(", ").count(), WebhookEvent::ALL.len() + 1);
        assert_eq!(SampleEvent::parse("chat_exploded"), None);
    }
}
