//! Requests to receivers, as shown to admins: the request of a delivery, which is built again from the current data, or
//! a test request and its response.

use serde_json::{Value, json};

use crate::domain::delivery::{Attempt, Outcome};
use crate::domain::message_content::truncate_chars;

const MAX_REQUEST_CHARS: usize = 65_536;
const MAX_RESPONSE_CHARS: usize = 2_000;

/// A request to a receiver, without its secrets.
#[derive(Debug)]
pub struct SentRequest {
    pub url: String,
    pub headers: Vec<(&'static str, String)>,
    pub body: String,
}

pub fn sent_request_json(request: &SentRequest) -> Value {
    let SentRequest { url, headers, body } = request;
    let headers: Vec<Value> = headers.iter().map(|(name, value)| json!({ "name": name, "value": value })).collect();
    let (body, body_truncated) = truncated(body, MAX_REQUEST_CHARS);
    json!({ "method": "POST", "url": url, "headers": headers, "body": body, "body_truncated": body_truncated })
}

/// Returns the result of a test of a receiver. `response` is the body of the response, or `None` if there was no
/// complete response.
pub fn receiver_test_json(
    request: &SentRequest,
    outcome: &Outcome,
    attempt: &Attempt,
    response: Option<&[u8]>,
) -> Value {
    let response = response.map(|body| {
        let (body, body_truncated) = truncated(&String::from_utf8_lossy(body), MAX_RESPONSE_CHARS);
        json!({ "body": body, "body_truncated": body_truncated })
    });
    let Attempt { at: _, status, duration_ms, error: _, answer: _ } = attempt;
    json!({
        "status": status, "ms": duration_ms, "error": outcome.error(),
        "request": sent_request_json(request), "response": response,
    })
}

fn truncated(text: &str, max_chars: usize) -> (String, bool) {
    let shown = truncate_chars(text, max_chars);
    let is_truncated = shown.len() < text.len();
    (shown, is_truncated)
}
