//! The demo integrator: stands in for a customer's server and prints what agents answer.

use axum::extract::Path;
use axum::routing::post;
use axum::{Json, Router};
use serde_json::{Value, json};

use crate::{public_api, terminal};

const PREFIX: &str = "/_local/integrator";

/// The `integrator_url` of a channel whose messages end here.
#[must_use]
pub fn url(base_url: &str) -> String {
    format!("{base_url}{PREFIX}")
}

/// An [`url`] of an earlier run brought to this one's address; none for an address that is not ours, or is this one.
#[must_use]
pub fn moved(url: &str, base_url: &str) -> Option<String> {
    public_api::moved(url, PREFIX, base_url)
}

/// Mounted on the host's own port.
pub fn router() -> Router {
    Router::new().route(&format!("{PREFIX}/{{channel_id}}"), post(receive))
}

async fn receive(Path(_channel_id): Path<String>, Json(body): Json<Value>) -> Json<Value> {
    terminal::say(&line(&body));
    Json(json!({"result": "ok"}))
}

/// One line for the terminal. Control characters are shown, not obeyed: a text must not move the cursor.
fn line(body: &Value) -> String {
    let read = |path: &str| body.pointer(path).and_then(Value::as_str);
    let line = format!("{}: {}", read("/sender/name").unwrap_or("An agent"), said(&body["message"]));
    line.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// What a message says. A bot's rich message is shown as it is, not by its fallback.
fn said(message: &Value) -> String {
    let read = |name: &str| message.get(name).and_then(Value::as_str);
    let kind = read("type").unwrap_or("?");
    if let Some(rich) = read("content").map(str::to_owned).or_else(|| buttons(message)) {
        return rich;
    }
    match (read("text"), read("file")) {
        (Some(text), None) => text.to_owned(),
        (Some(text), Some(file)) => format!("({kind}) {file} {text}"),
        (None, Some(file)) => format!("({kind}) {file}"),
        (None, None) => format!("({kind})"),
    }
}

/// `Which day? [Today] [Tomorrow]`
fn buttons(message: &Value) -> Option<String> {
    let buttons = message.get("buttons")?.as_array()?.iter();
    let buttons = buttons.filter_map(|button| button.get("text")?.as_str()).map(|text| format!("[{text}]"));
    let title = message.get("title").and_then(Value::as_str).map(str::to_owned);
    Some(title.into_iter().chain(buttons).collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_who_wrote_what() {
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
            assert_eq!(line(&body), expected);
        }
    }
}
