//! The demo integrator: stands in for a customer's server and prints what agents answer.

use axum::extract::Path;
use axum::routing::post;
use axum::{Json, Router};
use serde_json::{Value, json};

use crate::terminal;

const PREFIX: &str = "/_local/integrator";

/// The `integrator_url` of a channel whose messages end here.
#[must_use]
pub fn url(base_url: &str) -> String {
    format!("{base_url}{PREFIX}")
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
    let agent = read("/sender/name").unwrap_or("An agent");
    let kind = read("/message/type").unwrap_or("?");
    let said = match (read("/message/text"), read("/message/file")) {
        (Some(text), None) => text.to_owned(),
        (Some(text), Some(file)) => format!("({kind}) {file} {text}"),
        (None, Some(file)) => format!("({kind}) {file}"),
        (None, None) => format!("({kind})"),
    };
    let shown = |text: &str| {
        text.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect::<String>()
    };
    format!("{}: {}", shown(agent), shown(&said))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_who_wrote_what() {
        for (body, expected) in [
            (json!({"sender": {"name": "Ann"}, "message": {"type": "text", "text": "Hi"}}), "Ann: Hi"),
            (json!({"sender": {"name": "Ann"}, "message": {"type": "typein"}}), "Ann: (typein)"),
            (json!({"message": {"type": "photo", "file": "https://x/p.png"}}), "An agent: (photo) https://x/p.png"),
            (json!({"message": {"type": "text", "text": "a\u{1b}[2Jb"}}), "An agent: a\u{fffd}[2Jb"),
        ] {
            assert_eq!(line(&body), expected);
        }
    }
}
