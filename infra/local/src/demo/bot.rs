//! The demo bot: stands in for a bot provider's server. It knows a few answers, hands over when it is asked for a
//! human, and asks for an e-mail address when nobody is there. It speaks to the service through B-1 alone.

use std::sync::{Arc, OnceLock};

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::post;
use axum::{Json, Router};
use serde_json::{Value, json};

use crate::public_api::{self, Api, Error};

const PREFIX: &str = "/_local/bot";

/// The `endpoint` of the provider whose server this is.
#[must_use]
pub fn endpoint(base_url: &str) -> String {
    format!("{base_url}{PREFIX}")
}

/// An [`endpoint`] of an earlier run brought to this one's address; none for an address that is not ours, or is this one.
#[must_use]
pub fn moved(endpoint: &str, base_url: &str) -> Option<String> {
    public_api::moved(endpoint, PREFIX, base_url)
}

/// The bot; a clone is the same one. Deaf until it is told who it is, because its routes are needed earlier.
#[derive(Debug, Clone, Default)]
pub struct DemoBot(Arc<OnceLock<Identity>>);

#[derive(Debug)]
struct Identity {
    api: Api,
    provider_id: String,
}

impl DemoBot {
    /// Tells the bot where it speaks, and as which provider. Only the first time counts.
    pub fn introduce(&self, api: Api, provider_id: &str) {
        let _ = self.0.set(Identity { api, provider_id: provider_id.to_owned() });
    }

    /// Mounted on the host's own port.
    pub fn router(self) -> Router {
        Router::new().route(&format!("{PREFIX}/{{token}}"), post(receive)).with_state(self)
    }
}

/// B-2. The answers are posted before this request is answered, as a provider may.
async fn receive(State(bot): State<DemoBot>, Path(token): Path<String>, Json(event): Json<Value>) -> StatusCode {
    let Some(identity) = bot.0.get() else { return StatusCode::SERVICE_UNAVAILABLE };
    for answer in answers(&event) {
        match identity.post(&token, &answer).await {
            Ok(_) => {}
            // An agent was faster.
            Err(Error::Refused { status: 403, .. }) => break,
            Err(_) => return StatusCode::BAD_GATEWAY,
        }
    }
    StatusCode::OK
}

impl Identity {
    async fn post(&self, token: &str, event: &Value) -> Result<Value, Error> {
        self.api.post(&format!("/bot/webhooks/{}/{token}", self.provider_id), None, event).await
    }
}

/// The events to post in answer to one of the service's.
fn answers(event: &Value) -> Vec<Value> {
    let read = |path: &str| event.pointer(path).and_then(Value::as_str).unwrap_or_default();
    let mut answers = match read("/event") {
        "CLIENT_MESSAGE" => to_client(read("/message/text")),
        "AGENT_UNAVAILABLE" => {
            vec![say("Nobody is here right now. What is your e-mail address? We will write to you.")]
        }
        _ => Vec::new(),
    };
    for answer in &mut answers {
        if let Some(fields) = answer.as_object_mut() {
            fields
                .extend(["id", "client_id", "chat_id"].map(|name| (name.to_owned(), json!(read(&format!("/{name}"))))));
        }
    }
    answers
}

fn to_client(text: &str) -> Vec<Value> {
    let lower = text.to_lowercase();
    let mentions = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if let Some(address) = text.split_whitespace().find(|word| word.contains('@')) {
        let learned = json!({"event": "CLIENT_INFO", "contacts": {"email": address}});
        vec![learned, say("Thank you, we will write to you.")]
    } else if mentions(&["human", "agent", "person"]) {
        vec![json!({"event": "INVITE_AGENT"})]
    } else if mentions(&["today", "weekday"]) {
        vec![say("From 9:00 to 17:00.")]
    } else if mentions(&["weekend"]) {
        vec![say("On Saturday from 10:00 to 14:00, on Sunday not at all.")]
    } else if mentions(&["hours", "open"]) {
        vec![hours()]
    } else if mentions(&["help", "docs"]) {
        vec![help()]
    } else {
        vec![say("I am a bot. Ask me for our hours, for help, or for a human.")]
    }
}

fn message(message: &Value) -> Value {
    json!({"event": "BOT_MESSAGE", "message": message})
}

fn say(text: &str) -> Value {
    message(&json!({"type": "TEXT", "text": text}))
}

fn hours() -> Value {
    let buttons = ["Today", "At the weekend", "I want a human"].map(|text| json!({"text": text}));
    let text = "Which day: today, or at the weekend?";
    message(&json!({"type": "BUTTONS", "title": "Which day?", "text": text, "buttons": buttons}))
}

fn help() -> Value {
    let content = "Read **how it works** in the [README](https://switchboard.example).";
    let text = "Read how it works: https://switchboard.example";
    message(&json!({"type": "MARKDOWN", "content": content, "text": text}))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kinds of what is answered: of messages their type, of others the event.
    fn kinds(event: &Value) -> Vec<String> {
        let kind = |answer: &Value| answer.pointer("/message/type").unwrap_or(&answer["event"]).clone();
        answers(event).iter().map(|answer| kind(answer).as_str().unwrap_or_default().to_owned()).collect()
    }

    #[test]
    fn it_answers_asks_and_hands_over() {
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
            assert_eq!(kinds(&event), expected, "{text}");
        }
        assert_eq!(kinds(&json!({"event": "AGENT_UNAVAILABLE"})), ["TEXT"]);
        assert!(kinds(&json!({"event": "CHAT_CLOSED"})).is_empty());
        assert!(kinds(&json!([])).is_empty());
    }

    #[test]
    fn an_answer_names_the_chat_it_is_for() {
        let event = json!({"event": "AGENT_UNAVAILABLE", "id": "x", "chat_id": "7", "client_id": "3"});
        for answer in answers(&event) {
            assert_eq!(
                (&answer["chat_id"], &answer["client_id"], &answer["id"]),
                (&json!("7"), &json!("3"), &json!("x"))
            );
        }
    }
}
