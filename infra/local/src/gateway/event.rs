//! Builds the event for a function from an HTTP request (payload format 2.0).

use std::collections::BTreeMap;
use std::net::SocketAddr;

use axum::http::header;
use axum::http::request::Parts;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};
use time::OffsetDateTime;

use super::routes::RouteMatch;
use crate::aws::arn::AWS_ACCOUNT_ID;
use crate::aws::time_format::access_log_time;
use crate::http::request_text::{header_text, query_pairs};

/// The API id in events. AWS generates an id for every API; locally, the id is constant.
const API_ID: &str = "local";

/// The content types whose bodies are passed to the function without base64, in addition to `text/*` and `*+json`.
const TEXT_CONTENT_TYPES: [&str; 3] = ["application/json", "application/javascript", "application/xml"];

pub(super) struct RoutedRequest<'r> {
    pub head: &'r Parts,
    pub body: &'r [u8],
    pub client: SocketAddr,
    pub route_match: &'r RouteMatch<'r>,
    pub request_id: &'r str,
    pub received_at: OffsetDateTime,
}

impl RoutedRequest<'_> {
    pub fn to_event(&self) -> Value {
        let query = self.head.uri.query().unwrap_or_default();
        let (body, is_base64) = self.encoded_body();
        let event = json!({
            "version": "2.0",
            "routeKey": self.route_match.route.key,
            "rawPath": self.decoded_path(),
            "rawQueryString": query,
            "cookies": self.cookies(),
            "headers": self.headers(),
            "queryStringParameters": query_parameters(query),
            "requestContext": self.request_context(),
            "pathParameters": self.route_match.parameters,
            "body": body,
            "isBase64Encoded": is_base64,
        });
        omit_absent_fields(event)
    }

    /// Returns the decoded path. An HTTP API decodes the path even though the field is named `rawPath`.
    fn decoded_path(&self) -> String {
        percent_decode_str(self.head.uri.path()).decode_utf8_lossy().into_owned()
    }

    fn headers(&self) -> BTreeMap<String, String> {
        let mut headers: BTreeMap<String, String> = BTreeMap::new();
        for (name, value) in &self.head.headers {
            if name == header::COOKIE {
                continue;
            }
            let value = header_text(value.as_bytes());
            headers
                .entry(name.as_str().to_owned())
                .and_modify(|joined| *joined = format!("{joined},{value}"))
                .or_insert(value);
        }
        self.add_forwarding_headers(&mut headers);
        headers
    }

    fn add_forwarding_headers(&self, headers: &mut BTreeMap<String, String>) {
        let client = self.client.ip().to_string();
        headers
            .entry("x-forwarded-for".to_owned())
            .and_modify(|chain| *chain = format!("{chain}, {client}"))
            .or_insert(client);
        headers.insert("x-forwarded-proto".to_owned(), "http".to_owned());
        let port = headers.get("host").and_then(|host| host.rsplit_once(':')).map(|(_, port)| port);
        let port = port.unwrap_or("80").to_owned();
        headers.insert("x-forwarded-port".to_owned(), port);
        let trace_id = format!("Root=1-{}", self.request_id.replace('-', ""));
        headers.entry("x-amzn-trace-id".to_owned()).or_insert(trace_id);
    }

    fn cookies(&self) -> Vec<String> {
        let values = self.head.headers.get_all(header::COOKIE).iter();
        let values = values.map(|value| String::from_utf8_lossy(value.as_bytes()));
        values.flat_map(|value| value.split("; ").map(str::to_owned).collect::<Vec<_>>()).collect()
    }

    fn request_context(&self) -> Value {
        let header = |name| {
            let value = self.head.headers.get(name);
            value.map(|value| String::from_utf8_lossy(value.as_bytes())).unwrap_or_default()
        };
        json!({
            "accountId": AWS_ACCOUNT_ID,
            "apiId": API_ID,
            "domainName": header(header::HOST),
            "domainPrefix": API_ID,
            "http": {
                "method": self.head.method.as_str(),
                "path": self.decoded_path(),
                "protocol": format!("{:?}", self.head.version),
                "sourceIp": self.client.ip().to_string(),
                "userAgent": header(header::USER_AGENT),
            },
            "requestId": self.request_id,
            "routeKey": self.route_match.route.key,
            "stage": "$default",
            "time": access_log_time(self.received_at),
            "timeEpoch": self.received_at.unix_timestamp_nanos() / 1_000_000,
        })
    }

    /// Returns the body and whether it is base64-encoded. A body that is not valid UTF-8 is encoded even if its content
    /// type is text, so that the function can decode the exact bytes.
    fn encoded_body(&self) -> (String, bool) {
        match std::str::from_utf8(self.body) {
            Ok(text) if text.is_empty() || self.is_text() => (text.to_owned(), false),
            _ => (STANDARD.encode(self.body), true),
        }
    }

    /// Whether the content type is one of a text. A body without a content type counts as text.
    fn is_text(&self) -> bool {
        let Some(content_type) = self.head.headers.get(header::CONTENT_TYPE) else {
            return true;
        };
        let content_type = String::from_utf8_lossy(content_type.as_bytes()).to_ascii_lowercase();
        let media_type = content_type.split(';').next().unwrap_or_default().trim();
        media_type.starts_with("text/") || media_type.ends_with("+json") || TEXT_CONTENT_TYPES.contains(&media_type)
    }
}

/// Removes empty lists, empty objects and an empty body from the event, as on AWS. Other empty strings are kept.
fn omit_absent_fields(mut event: Value) -> Value {
    if let Value::Object(members) = &mut event {
        members.retain(|name, value| match value {
            Value::Array(items) => !items.is_empty(),
            Value::Object(members) => !members.is_empty(),
            Value::String(text) => name != "body" || !text.is_empty(),
            Value::Null | Value::Bool(_) | Value::Number(_) => true,
        });
    }
    event
}

/// Decodes a query string. If a name is repeated, its values are joined with commas.
fn query_parameters(query: &str) -> BTreeMap<String, String> {
    let mut parameters: BTreeMap<String, String> = BTreeMap::new();
    for (name, value) in query_pairs(query) {
        parameters.entry(name).and_modify(|joined| *joined = format!("{joined},{value}")).or_insert(value);
    }
    parameters
}
