//! Fuzzes the events with which API Gateway and SQS invoke functions: HTTP requests, WebSocket events with their
//! frames, and queue tasks.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use lambda_http::http::Uri;
use serde_json::Value;

use crate::fuzz::{NOW, accepted, json, targets};
use crate::runtime::http::Request;
use crate::runtime::socket::SocketEvent;
use crate::wire::queue_message;
use crate::wire::queue_task::Task;
use crate::wire::sockets::socket_frame::{ClientFrame, VisitorFrame, error_frame};

targets!(http_event, path_number, socket_event, agent_frame, visitor_frame, queue_task);

/// The input is the event in which API Gateway sends an HTTP request.
fn http_event(input: &[u8]) {
    let Ok(mut event) = serde_json::from_slice::<Value>(input) else { return };
    if !set_gateway_fields(&mut event) {
        return;
    }
    let Ok(request) = Request::of_event(event.to_string().as_bytes()) else { return };
    for name in ["secret", "channel_id", "chat_id", "seq", "number", "account_id"] {
        assert_canonical(&request, name);
    }
    let body = request.json().and_then(|body| request.idempotency_key(|| "scope".into(), &body).map(|_| ()));
    assert!(body.as_ref().map_or_else(|error| matches!(error.status(), 400 | 413), |()| true), "{body:?}");
    let _ = (request.bearer_token(), request.has_several_credentials());
    let _ = (request.path_and_query(), request.api_id(), request.source_address(), request.json_or_empty());
}

/// Overwrites what a caller does not control: the headers that API Gateway sets and the encoding of the body. Returns
/// whether API Gateway could send the event: its path and query must be valid parts of a URL.
fn set_gateway_fields(event: &mut Value) -> bool {
    for (name, value) in [("host", "api.example.com"), ("x-forwarded-proto", "https"), ("x-forwarded-port", "443")] {
        if let Some(Value::Object(headers)) = event.get_mut("headers") {
            headers.insert(name.to_owned(), Value::from(value));
        }
    }
    let text = |name: &str| event.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (body, path, query) = (text("body"), text("rawPath"), text("rawQueryString"));
    if let Some(fields) = event.as_object_mut() {
        fields.insert("body".to_owned(), Value::from(STANDARD.encode(body)));
        fields.insert("isBase64Encoded".to_owned(), Value::from(true));
    }
    path.starts_with('/') && format!("https://api.example.com/?{query}").parse::<Uri>().is_ok()
}

/// Checks that a number in a path is in its canonical form, so that each resource has only one path.
fn assert_canonical(request: &Request, name: &str) {
    if let Ok(number) = request.path_number(name) {
        assert_eq!(number.to_string(), request.path_segment(name));
    }
}

/// The input is the value of a path parameter that must be a number.
fn path_number(input: &[u8]) {
    let segment = String::from_utf8_lossy(input).into_owned();
    let event: Value = serde_json::from_str(include_str!("../../../tests/events/agent-show-chat.json")).unwrap();
    let mut event = event;
    event["pathParameters"]["chat_id"] = Value::String(segment);
    let request = Request::of_event(event.to_string().as_bytes()).unwrap();
    let number = request.path_number("chat_id");
    assert!(number.as_ref().map_or_else(|error| error.status() == 404, |_| true), "{number:?}");
    assert_canonical(&request, "chat_id");
}

/// The input is an event of the WebSocket API. Its body is also checked as a frame.
fn socket_event(input: &[u8]) {
    let Ok(event) = serde_json::from_slice::<SocketEvent>(input) else { return };
    let _ = (event.connection_id(), event.query("ticket"), event.query("widget_ticket"));
    agent_frame(event.body().as_bytes());
    visitor_frame(event.body().as_bytes());
}

fn agent_frame(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    check_frame(text, ClientFrame::parse);
}

fn visitor_frame(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    if let Some(VisitorFrame::Typing { text: Some(typed), .. }) = check_frame(text, VisitorFrame::parse) {
        assert!((1..=300).contains(&typed.chars().count()));
    }
}

fn check_frame<T>(text: &str, parse: fn(&str) -> Result<T, crate::error::Error>) -> Option<T> {
    let parsed = parse(text);
    if let Err(error) = &parsed {
        let response: Value = serde_json::from_str(&error_frame(error)).unwrap();
        assert_eq!(
            (&response["v"], &response["type"], &response["code"]),
            (&1.into(), &"error".into(), &"invalid_request".into())
        );
    }
    accepted(&json(text.as_bytes())?, parsed)
}

fn queue_task(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let Ok(task) = Task::from_json(text) else { return };
    let stored = task.to_json();
    assert_eq!(Task::from_json(&stored).unwrap().to_json(), stored);
    let trace = queue_message::parse_trace(text);
    assert_eq!(queue_message::parse_trace(&queue_message::build(&task, trace.as_ref())), trace);
    let Task::Entry(entry) = task else { return };
    let turn = entry.with_turn_started(NOW);
    for next in [turn.retry_unordered(), turn.retry_unrecorded(), turn.next_attempt()] {
        assert_eq!(Task::from_json(&next.to_json()).unwrap().to_json(), next.to_json());
    }
}
