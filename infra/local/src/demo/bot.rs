//! The demo bot emulates a bot provider's server. It answers a few questions, invites an agent if the visitor asks for
//! a human, and asks for an e-mail address if no agent is available. It calls only the Bot API (specification, B-1).

use std::sync::{Arc, OnceLock};

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::post;
use axum::{Json, Router};
use serde_json::{Value, json};

use super::journal::{Journal, Receiver};
use crate::api_client::{self, ApiClient, Error};

const PATH_PREFIX: &str = "/_local/bot";

#[must_use]
pub fn endpoint(base_url: &str) -> String {
    format!("{base_url}{PATH_PREFIX}")
}

/// Replaces the base URL of an [`endpoint`] from an earlier run. Returns `None` for any other URL, and for an endpoint
/// that already has this run's base URL.
#[must_use]
pub fn with_base_url(endpoint: &str, base_url: &str) -> Option<String> {
    api_client::with_base_url(endpoint, PATH_PREFIX, base_url)
}

/// The host needs the bot's routes before the provider exists, so the bot is connected later. Until then, the bot
/// responds with 503. Clones share the connection.
#[derive(Debug, Clone)]
pub struct DemoBot {
    connection: Arc<OnceLock<ProviderConnection>>,
    journal: Journal,
}

#[derive(Debug)]
struct ProviderConnection {
    api: ApiClient,
    provider_id: String,
}

impl DemoBot {
    #[must_use]
    pub fn new(journal: Journal) -> Self {
        Self { connection: Arc::default(), journal }
    }

    /// Connects the bot to the Bot API as the provider `provider_id`. Only the first call has an effect.
    pub fn connect(&self, api: ApiClient, provider_id: &str) {
        let _ = self.connection.set(ProviderConnection { api, provider_id: provider_id.to_owned() });
    }

    pub fn router(self) -> Router {
        Router::new().route(&format!("{PATH_PREFIX}/{{token}}"), post(receive_event)).with_state(self)
    }
}

/// Receives an event from the service (specification, B-2). As the specification allows, the bot posts its own events
/// before it responds.
async fn receive_event(State(bot): State<DemoBot>, Path(token): Path<String>, Json(event): Json<Value>) -> StatusCode {
    let Some(connection) = bot.connection.get() else { return StatusCode::SERVICE_UNAVAILABLE };
    let replies = replies(&event);
    bot.journal.record(Receiver::Bot, &event, replies.clone());
    for reply in replies {
        match connection.post(&token, &reply).await {
            Ok(_) => {}
            // An agent has already accepted the chat.
            Err(error) if error.has_status(403) => break,
            Err(_) => return StatusCode::BAD_GATEWAY,
        }
    }
    StatusCode::OK
}

impl ProviderConnection {
    async fn post(&self, token: &str, event: &Value) -> Result<Value, Error> {
        self.api.post(&format!("/bot/webhooks/{}/{token}", self.provider_id), None, event).await
    }
}

/// Returns the events that the bot posts in reply to an event from the service.
fn replies(event: &Value) -> Vec<Value> {
    let text_at = |path: &str| event.pointer(path).and_then(Value::as_str).unwrap_or_default();
    let mut replies = match text_at("/event") {
        "CLIENT_MESSAGE" => replies_to_message(text_at("/message/text")),
        "AGENT_UNAVAILABLE" => {
            vec![text_message("No agent is available right now. What is your e-mail address? We will write to you.")]
        }
        _ => Vec::new(),
    };
    let identifiers = ["id", "client_id", "chat_id"].map(|name| (name.to_owned(), json!(text_at(&format!("/{name}")))));
    for reply in &mut replies {
        if let Some(fields) = reply.as_object_mut() {
            fields.extend(identifiers.clone());
        }
    }
    replies
}

fn replies_to_message(text: &str) -> Vec<Value> {
    let lower = text.to_lowercase();
    let mentions = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if let Some(address) = text.split_whitespace().find(|word| word.contains('@')) {
        let contact = json!({"event": "CLIENT_INFO", "contacts": {"email": address}});
        vec![contact, text_message("Thank you, we will write to you.")]
    } else if mentions(&["human", "agent", "person"]) {
        vec![json!({"event": "INVITE_AGENT"})]
    } else if mentions(&["today", "weekday"]) {
        vec![text_message("From 9:00 to 17:00.")]
    } else if mentions(&["weekend"]) {
        vec![text_message("On Saturday from 10:00 to 14:00, on Sunday not at all.")]
    } else if mentions(&["hours", "open"]) {
        vec![opening_hours_message()]
    } else if mentions(&["help", "docs"]) {
        vec![help_message()]
    } else {
        vec![text_message("I am a bot. Ask me for our hours, for help, or for a human.")]
    }
}

fn bot_message(message: &Value) -> Value {
    json!({"event": "BOT_MESSAGE", "message": message})
}

fn text_message(text: &str) -> Value {
    bot_message(&json!({"type": "TEXT", "text": text}))
}

fn opening_hours_message() -> Value {
    let buttons = ["Today", "At the weekend", "I want a human"].map(|text| json!({"text": text}));
    let text = "Which day: today, or at the weekend?";
    bot_message(&json!({"type": "BUTTONS", "title": "Which day?", "text": text, "buttons": buttons}))
}

fn help_message() -> Value {
    let content = "Read **how it works** in the [README](https://switchboard.example).";
    let text = "Read how it works: https://switchboard.example";
    bot_message(&json!({"type": "MARKDOWN", "content": content, "text": text}))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the message type of each reply that is a message, and the event name of every other reply.
    fn reply_types(event: &Value) -> Vec<String> {
        let reply_type = |reply: &Value| reply.pointer("/message/type").unwrap_or(&reply["event"]).clone();
        replies(event).iter().map(|reply| reply_type(reply).as_str().unwrap_or_default().to_owned()).collect()
    }

    #[test]
    fn reply_depends_on_the_event() {
        for (text, expected) in [
            ("What are your hours?", vec!["BUTTONS"]),
            ("At the weekend", vec!["TEXT"]),
            ("Help!", vec!["MARKDOWN"]),
            ("xyz", vec!["TEXT"]),
            ("", vec!["TEXT"]),
            ("I want a HUMAN", vec!["INVITE_AGENT"]),
            ("ada@example.com, please", vec!["CLIENT_INFO", "TEXT"]),
        ] {
            let event = json!({"event": "CLIENT_MESSAGE", "message": {"text": text}});
            assert_eq!(reply_types(&event), expected, "{text}");
        }
        assert_eq!(reply_types(&json!({"event": "AGENT_UNAVAILABLE"})), ["TEXT"]);
        assert!(reply_types(&json!({"event": "CHAT_CLOSED"})).is_empty());
        assert!(reply_types(&json!([])).is_empty());
    }

    #[test]
    fn reply_has_identifiers_of_the_event() {
        let event = json!({"event": "AGENT_UNAVAILABLE", "id": "x", "chat_id": "7", "client_id": "3"});
        for reply in replies(&event) {
            assert_eq!((&reply["chat_id"], &reply["client_id"], &reply["id"]), (&json!("7"), &json!("3"), &json!("x")));
        }
    }
}
