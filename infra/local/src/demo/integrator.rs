//! The demo integrator emulates a customer's server. The messages that it receives for visitors are printed to the
//! terminal.

use axum::extract::{Path, State};
use axum::routing::post;
use axum::{Json, Router};
use serde_json::{Value, json};

use super::journal::{Journal, Receiver};
use crate::{api_client, terminal};

const PATH_PREFIX: &str = "/_local/integrator";

#[must_use]
pub fn url(base_url: &str) -> String {
    format!("{base_url}{PATH_PREFIX}")
}

/// Replaces the base URL of a [`url`] from an earlier run. Returns `None` for any other URL, and for a URL that already
/// has this run's base URL.
#[must_use]
pub fn with_base_url(url: &str, base_url: &str) -> Option<String> {
    api_client::with_base_url(url, PATH_PREFIX, base_url)
}

pub fn router(journal: Journal) -> Router {
    Router::new().route(&format!("{PATH_PREFIX}/{{channel_id}}"), post(receive_message)).with_state(journal)
}

async fn receive_message(
    State(journal): State<Journal>,
    Path(_channel_id): Path<String>,
    Json(body): Json<Value>,
) -> Json<Value> {
    terminal::print_line(&terminal_line(&body));
    let response = json!({"result": "ok"});
    journal.record(Receiver::Integrator, &body, vec![response.clone()]);
    Json(response)
}

/// Formats the sender and the message as one line. Control characters are replaced, so that a message cannot control
/// the terminal.
fn terminal_line(body: &Value) -> String {
    let text_at = |path: &str| body.pointer(path).and_then(Value::as_str);
    let line = format!("{}: {}", text_at("/sender/name").unwrap_or("An agent"), message_text(&body["message"]));
    line.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// Returns the content of a message as text. For Markdown and buttons, returns the content itself rather than the
/// plain-text alternative. Returns only the type of a message without text and file, such as a typing notice.
fn message_text(message: &Value) -> String {
    let field = |name: &str| message.get(name).and_then(Value::as_str);
    let message_type = field("type").unwrap_or("?");
    if let Some(content) = field("content").map(str::to_owned).or_else(|| buttons_text(message)) {
        return content;
    }
    match (field("text"), field("file")) {
        (Some(text), None) => text.to_owned(),
        (Some(text), Some(file)) => format!("({message_type}) {file} {text}"),
        (None, Some(file)) => format!("({message_type}) {file}"),
        (None, None) => format!("({message_type})"),
    }
}

/// Formats a message with buttons, for example as `Which day? [Today] [Tomorrow]`. Returns `None` if there are no
/// buttons.
fn buttons_text(message: &Value) -> Option<String> {
    let buttons = message.get("buttons")?.as_array()?.iter();
    let buttons = buttons.filter_map(|button| button.get("text")?.as_str()).map(|text| format!("[{text}]"));
    let title = message.get("title").and_then(Value::as_str).map(str::to_owned);
    Some(title.into_iter().chain(buttons).collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_has_sender_and_content() {
        for (body, expected) in [
            (json!({"sender": {"name": "Ann"}, "message": {"type": "text", "text": "Hi"}}), "Ann: Hi"),
            (json!({"sender": {"name": "Ann"}, "message": {"type": "typein"}}), "Ann: (typein)"),
            (json!({"message": {"type": "markdown", "content": "**Hi**", "text": "Hi"}}), "An agent: **Hi**"),
            (
                json!({"message": {"type": "buttons", "title": "Tea?", "buttons": [{"text": "Yes"}, {"text": "No"}]}}),
                "An agent: Tea? [Yes] [No]",
            ),
            (json!({"message": {"type": "photo", "file": "https://x/p.png"}}), "An agent: (photo) https://x/p.png"),
            (json!({"message": {"type": "text", "text": "a\u{1b}[2Jb"}}), "An agent: a\u{fffd}[2Jb"),
        ] {
            assert_eq!(terminal_line(&body), expected);
        }
    }
}
