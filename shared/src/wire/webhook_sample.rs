//! Sample events for the test of a webhook. They are what [`Story`] makes of a made-up chat, so a sample has every field
//! that a real event has.

use serde_json::{Value, json};

use crate::domain::account::{Agent, Author, Role};
use crate::domain::call::{Call, CallKind, CallStatus};
use crate::domain::chat::{Chat, Failing, Rating, Sender};
use crate::domain::chat_state::State;
use crate::domain::content::Content;
use crate::domain::department::ChatDepartment;
use crate::domain::entry::Entry;
use crate::domain::rate::Window;
use crate::domain::timestamp::Timestamp;
use crate::domain::visitor::{Changes, Profile, Said, Sources, Visitor};
use crate::domain::webhook::{WebhookDispatch, WebhookEvent};
use crate::error::Error;
use crate::wire::fields::Fields;
use crate::wire::webhook::Story;

/// What a test sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sample {
    /// The event `test`, which only says that the address works.
    Test,
    /// An event of the specification.
    Event(WebhookEvent),
}

/// The names that [`Sample::parse`] takes.
const NAMES: &str = "test, call_event, chat_accepted, chat_assigned, chat_finished, chat_updated, offline_message";

const ACCOUNT: &str = "sample";
const CHANNEL: &str = "sample";
/// A number that no chat and no visitor reaches soon.
const NUMBER: u64 = 1_000_000_000;

/// Reads POST /admin/settings/webhooks/{webhook_id}/test.
pub fn sample(body: &Value) -> Result<Sample, Error> {
    Ok(Fields::of(body)?.one_of("event", NAMES, Sample::parse)?.unwrap_or(Sample::Test))
}

impl Sample {
    /// The sample of that name.
    pub fn parse(name: &str) -> Option<Self> {
        if name == "test" { Some(Self::Test) } else { WebhookEvent::parse(name).map(Self::Event) }
    }

    /// The body to send.
    pub fn body(self, webhook_id: &str, now: Timestamp) -> Value {
        match self {
            Self::Test => json!({ "event_name": "test", "widget_id": "" }),
            Self::Event(event) => story(event, webhook_id, now),
        }
    }
}

fn story(event: WebhookEvent, webhook_id: &str, now: Timestamp) -> Value {
    let agent = agent(now);
    let author = Author::from(agent.clone());
    let timeline = [
        entry(1, Sender::Visitor, "Hello, this is a sample message.", now),
        entry(2, Sender::Agent(author.clone()), "Hello, this is a sample answer.", now),
    ];
    let occurrence = WebhookDispatch {
        event,
        webhook_id: webhook_id.to_owned(),
        agent_id: Some(agent.agent_id),
        assign_to: Some("https://crm.example/cards/1".to_owned()),
        call: Some(call()),
    };
    let (chat, visitor) = (chat(author, now), visitor());
    let invite = Some("Can I help you?".to_owned());
    let agents = &[agent];
    Story { occurrence: &occurrence, chat: &chat, visitor: &visitor, agents, timeline: &timeline, invite }.body()
}

fn agent(now: Timestamp) -> Agent {
    Agent {
        account_id: ACCOUNT.to_owned(),
        agent_id: 1,
        name: "Sample Agent".to_owned(),
        email: "agent@example.com".to_owned(),
        phone: Some("+1 202 555 0101".to_owned()),
        photo: None,
        role: Role::Agent,
        created_at: now,
    }
}

fn call() -> Call {
    let record_url = Some("https://example.com/record.mp3".to_owned());
    Call { kind: CallKind::Callback, phone: "+1 202 555 0102".to_owned(), status: CallStatus::End(record_url) }
}

fn chat(author: Author, now: Timestamp) -> Chat {
    Chat {
        account_id: ACCOUNT.to_owned(),
        chat_id: NUMBER,
        state: State::Active(author),
        version: 1,
        channel_id: CHANNEL.to_owned(),
        channel_name: "Sample channel".to_owned(),
        external_id: "sample".to_owned(),
        has_numeric_id: false,
        invite_hash: None,
        visitor_number: NUMBER,
        visitor_name: "Sample Visitor".to_owned(),
        department: Some(ChatDepartment { department_id: 1, name: "Sample department".to_owned() }),
        participants: vec![1],
        bot_id: None,
        bot_event_at: None,
        seq: 2,
        opened_at: now,
        updated_at: now,
        last_message: None,
        typing_since: None,
        failing: Failing::default(),
        rate: Window::default(),
        rating: Some(Rating::Positive),
        keep_days: None,
    }
}

fn visitor() -> Visitor {
    Visitor {
        account_id: ACCOUNT.to_owned(),
        channel_id: CHANNEL.to_owned(),
        external_id: "sample".to_owned(),
        number: NUMBER,
        profile: Profile {
            name: Some("Sample Visitor".to_owned()),
            phone: Some("+1 202 555 0102".to_owned()),
            email: Some("visitor@example.com".to_owned()),
            photo: None,
            url: Some("https://example.com/page".to_owned()),
            description: Some("Sent by a test of the webhook.".to_owned()),
        },
        sources: Sources::default(),
        said: Said::default(),
        chats: 1,
        blacklisted: false,
        open_chat: Some(NUMBER),
        last_chat: Some(NUMBER),
        keep_until: None,
        changes: Changes::default(),
    }
}

fn entry(seq: u64, from: Sender, text: &str, now: Timestamp) -> Entry {
    Entry {
        account_id: ACCOUNT.to_owned(),
        chat_id: NUMBER,
        seq,
        id: "00000000-0000-4000-8000-000000000001".to_owned(),
        from,
        content: Content::text(text),
        at: now,
        occurrence: None,
        keep_until: None,
        delivery: None,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// The fields of specification table C, with those that are optional.
    fn fields_of(event: WebhookEvent) -> Vec<&'static str> {
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
    fn a_sample_has_every_field_of_its_event() {
        for event in WebhookEvent::ALL {
            let body = Sample::Event(event).body("w", Timestamp(0));
            let fields = body.as_object().unwrap();
            for name in fields_of(event) {
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
    fn every_sample_has_its_name() {
        for name in NAMES.split(", ") {
            let sample = Sample::parse(name).unwrap();
            assert_eq!(sample.body("w", Timestamp(0))["event_name"], name);
        }
        assert_eq!(NAMES.split(", ").count(), WebhookEvent::ALL.len() + 1);
        assert_eq!(Sample::parse("chat_exploded"), None);
    }
}
