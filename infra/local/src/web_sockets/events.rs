//! Builds the events for the functions of a WebSocket API.

use std::collections::BTreeMap;

use axum::http::HeaderMap;
use axum::http::request::Parts;
use serde_json::{Map, Value, json};
use time::OffsetDateTime;
use uuid::Uuid;

use super::close_reason::CloseReason;
use super::open_connections::ConnectionInfo;
use crate::aws::time_format::access_log_time;
use crate::http::request_text::{header_text, query_pairs};

type Members = Map<String, Value>;

/// Returns the `$connect` event. Only this event contains all headers and the query parameters of the handshake.
pub(super) fn connect(connection: &ConnectionInfo, handshake: &Parts) -> Value {
    let request_id = Uuid::now_v7().to_string();
    let mut headers = headers_by_name(&handshake.headers);
    let port = connection.domain_name.rsplit_once(':').map_or("80", |(_, port)| port);
    for (name, value) in [
        ("X-Amzn-Trace-Id", format!("Root=1-{}", request_id.replace('-', ""))),
        ("X-Forwarded-For", connection.source_ip.clone()),
        ("X-Forwarded-Port", port.to_owned()),
        ("X-Forwarded-Proto", "http".to_owned()),
    ] {
        headers.insert(name.to_owned(), vec![value]);
    }
    let mut parameters: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, value) in query_pairs(handshake.uri.query().unwrap_or_default()) {
        parameters.entry(name).or_default().push(value);
    }
    let mut event = event(request_context(connection, "$connect", "CONNECT", &request_id));
    insert_values(&mut event, "headers", "multiValueHeaders", &headers);
    if !parameters.is_empty() {
        insert_values(&mut event, "queryStringParameters", "multiValueQueryStringParameters", &parameters);
    }
    Value::Object(event)
}

pub(super) fn message(connection: &ConnectionInfo, route_key: &str, request_id: &str, body: &str) -> Value {
    let mut context = request_context(connection, route_key, "MESSAGE", request_id);
    context.insert("messageId".to_owned(), json!(Uuid::now_v7()));
    let mut event = event(context);
    event.insert("body".to_owned(), json!(body));
    Value::Object(event)
}

pub(super) fn disconnect(connection: &ConnectionInfo, reason: &CloseReason) -> Value {
    let mut context = request_context(connection, "$disconnect", "DISCONNECT", &Uuid::now_v7().to_string());
    context.insert("disconnectStatusCode".to_owned(), json!(reason.status_code()));
    context.insert("disconnectReason".to_owned(), json!(reason.text()));
    let mut event = event(context);
    let headers = [("Host", connection.domain_name.as_str()), ("X-Forwarded-For", "")];
    let headers = headers.map(|(name, value)| (name.to_owned(), vec![value.to_owned()]));
    insert_values(&mut event, "headers", "multiValueHeaders", &headers.into());
    Value::Object(event)
}

fn event(request_context: Members) -> Members {
    let members = [("requestContext", Value::Object(request_context)), ("isBase64Encoded", json!(false))];
    members.map(|(name, value)| (name.to_owned(), value)).into_iter().collect()
}

fn request_context(connection: &ConnectionInfo, route_key: &str, event_type: &str, request_id: &str) -> Members {
    let now = OffsetDateTime::now_utc();
    let identity = match &connection.user_agent {
        Some(user_agent) => json!({"sourceIp": connection.source_ip, "userAgent": user_agent}),
        None => json!({"sourceIp": connection.source_ip}),
    };
    let members = [
        ("routeKey", json!(route_key)),
        ("eventType", json!(event_type)),
        ("extendedRequestId", json!(request_id)),
        ("requestTime", json!(access_log_time(now))),
        ("messageDirection", json!("IN")),
        ("stage", json!(connection.stage)),
        ("connectedAt", json!(unix_milliseconds(connection.connected_at))),
        ("requestTimeEpoch", json!(unix_milliseconds(now))),
        ("identity", identity),
        ("requestId", json!(request_id)),
        ("domainName", json!(connection.domain_name)),
        ("connectionId", json!(connection.id)),
        ("apiId", json!(connection.api_id)),
    ];
    members.map(|(name, value)| (name.to_owned(), value)).into_iter().collect()
}

/// Inserts the values as two members: one with the last value of each name, and one with all values.
fn insert_values(event: &mut Members, single: &str, multi: &str, values: &BTreeMap<String, Vec<String>>) {
    let last_values: BTreeMap<_, _> = values.iter().map(|(name, values)| (name, values.last())).collect();
    event.insert(single.to_owned(), json!(last_values));
    event.insert(multi.to_owned(), json!(values));
}

fn headers_by_name(headers: &HeaderMap) -> BTreeMap<String, Vec<String>> {
    let mut by_name: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, value) in headers {
        by_name.entry(capitalized_name(name.as_str())).or_default().push(header_text(value.as_bytes()));
    }
    by_name
}

/// Returns a header name as browsers write it, such as `Sec-WebSocket-Key`. In the events of a WebSocket API, header
/// names are spelled as the client sent them, but this host's HTTP server has converted them to lowercase.
fn capitalized_name(name: &str) -> String {
    let capitalized = |word: &str| match word.split_at_checked(1) {
        Some(_) if word == "websocket" => "WebSocket".to_owned(),
        Some((first, rest)) => first.to_ascii_uppercase() + rest,
        None => String::new(),
    };
    name.split('-').map(capitalized).collect::<Vec<_>>().join("-")
}

fn unix_milliseconds(at: OffsetDateTime) -> i128 {
    at.unix_timestamp_nanos() / 1_000_000
}
