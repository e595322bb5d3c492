//! The demo webhook emulates a customer's CRM: it receives the events of chats (specification, part C), and knows the
//! visitors whom the demo shop has signed in.

use axum::extract::State;
use axum::routing::post;
use axum::{Json, Router};
use serde_json::{Value, json};

use super::journal::{Journal, Receiver};
use crate::api_client;

const PATH: &str = "/_local/webhook";

#[must_use]
pub fn url(base_url: &str) -> String {
    format!("{base_url}{PATH}")
}

/// Replaces the base URL of a [`url`] from an earlier run. Returns `None` for any other URL, and for a URL that already
/// has this run's base URL.
#[must_use]
pub fn with_base_url(url: &str, base_url: &str) -> Option<String> {
    api_client::with_base_url(url, PATH, base_url)
}

pub fn router(journal: Journal) -> Router {
    Router::new().route(PATH, post(receive_event)).with_state(journal)
}

async fn receive_event(State(journal): State<Journal>, Json(event): Json<Value>) -> Json<Value> {
    let response = response(&event);
    journal.record(Receiver::Webhook, &event, vec![response.clone()]);
    Json(response)
}

/// Returns the response to an event. If the visitor is signed in to the shop, the response to `chat_accepted` contains
/// data for the agent.
fn response(event: &Value) -> Value {
    let is_accepted = event.get("event_name").is_some_and(|name| name == "chat_accepted");
    if !is_accepted || !event.get("user_token").is_some_and(Value::is_string) {
        return json!({"result": "ok"});
    }
    json!({
        "result": "ok",
        "custom_data": [
            {"title": "Customer", "content": "Trail Club, since 2023"},
            {"title": "Last order", "content": "C-20931, with the carrier"},
        ],
        "enable_assign": true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crm_card_is_for_signed_in_visitors() {
        let has_card = |name: &str, user_token: Value| {
            response(&json!({"event_name": name, "user_token": user_token})).get("custom_data").is_some()
        };
        assert!(has_card("chat_accepted", json!("demo-customer-42")));
        assert!(!has_card("chat_accepted", Value::Null));
        assert!(!has_card("chat_finished", json!("demo-customer-42")));
    }
}
