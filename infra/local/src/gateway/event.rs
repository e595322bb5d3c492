//! The request as the function sees it: payload format 2.0.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use axum::http::header;
use axum::http::request::Parts;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};
use time::OffsetDateTime;

use super::routes::Target;
use crate::clock::log_time;
use crate::identity::ACCOUNT;

/// The id that AWS gives to an API.
const API: &str = "local";

/// Content types, besides `text/*`, whose bodies travel as they are.
const TEXTUAL: [&str; 3] = ["application/json", "application/javascript", "application/xml"];

/// A request that found its route.
pub(super) struct Incoming<'r> {
    pub head: &'r Parts,
    pub body: &'r [u8],
    pub caller: SocketAddr,
    pub target: &'r Target<'r>,
    pub id: &'r str,
    pub at: OffsetDateTime,
}

impl Incoming<'_> {
    pub fn event(&self) -> Value {
        let query = self.head.uri.query().unwrap_or_default();
        let (body, is_base64) = self.body();
        let event = json!({
            "version": "2.0",
            "routeKey": self.target.route.key,
            "rawPath": self.path(),
            "rawQueryString": query,
            "cookies": self.cookies(),
            "headers": self.headers(),
            "queryStringParameters": parameters(query),
            "requestContext": self.context(),
            "pathParameters": self.target.parameters,
            "body": body,
            "isBase64Encoded": is_base64,
        });
        without_empty(event)
    }

    /// Despite the name `rawPath`, an HTTP API decodes it.
    fn path(&self) -> String {
        percent_decode_str(self.head.uri.path()).decode_utf8_lossy().into_owned()
    }

    fn headers(&self) -> BTreeMap<String, String> {
        let mut headers: BTreeMap<String, String> = BTreeMap::new();
        for (name, value) in &self.head.headers {
            if name == header::COOKIE {
                continue;
            }
            let value = text(value.as_bytes());
            headers
                .entry(name.as_str().to_owned())
                .and_modify(|joined| *joined = format!("{joined},{value}"))
                .or_insert(value);
        }
        self.add_forwarding(&mut headers);
        headers
    }

    fn add_forwarding(&self, headers: &mut BTreeMap<String, String>) {
        let caller = self.caller.ip().to_string();
        headers
            .entry("x-forwarded-for".to_owned())
            .and_modify(|chain| *chain = format!("{chain}, {caller}"))
            .or_insert(caller);
        headers.insert("x-forwarded-proto".to_owned(), "http".to_owned());
        let port = headers.get("host").and_then(|host| host.rsplit_once(':')).map(|(_, port)| port);
        let port = port.unwrap_or("80").to_owned();
        headers.insert("x-forwarded-port".to_owned(), port);
        let trace = format!("Root=1-{}", self.id.replace('-', ""));
        headers.entry("x-amzn-trace-id".to_owned()).or_insert(trace);
    }

    fn cookies(&self) -> Vec<String> {
        let values = self.head.headers.get_all(header::COOKIE).iter();
        let values = values.map(|value| String::from_utf8_lossy(value.as_bytes()));
        values.flat_map(|value| value.split("; ").map(str::to_owned).collect::<Vec<_>>()).collect()
    }

    fn context(&self) -> Value {
        let header = |name| {
            let value = self.head.headers.get(name);
            value.map(|value| String::from_utf8_lossy(value.as_bytes())).unwrap_or_default()
        };
        json!({
            "accountId": ACCOUNT,
            "apiId": API,
            "domainName": header(header::HOST),
            "domainPrefix": API,
            "http": {
                "method": self.head.method.as_str(),
                "path": self.path(),
                "protocol": format!("{:?}", self.head.version),
                "sourceIp": self.caller.ip().to_string(),
                "userAgent": header(header::USER_AGENT),
            },
            "requestId": self.id,
            "routeKey": self.target.route.key,
            "stage": "$default",
            "time": log_time(self.at),
            "timeEpoch": self.at.unix_timestamp_nanos() / 1_000_000,
        })
    }

    /// The body and whether it is base64. A body labelled as text that is not UTF-8 goes as base64 as well:
    /// no byte is lost, and a function that decodes by the flag sees what was sent.
    fn body(&self) -> (String, bool) {
        match std::str::from_utf8(self.body) {
            Ok(text) if text.is_empty() || self.is_textual() => (text.to_owned(), false),
            _ => (STANDARD.encode(self.body), true),
        }
    }

    /// Without a label a body is taken for text.
    fn is_textual(&self) -> bool {
        let Some(label) = self.head.headers.get(header::CONTENT_TYPE) else {
            return true;
        };
        let label = String::from_utf8_lossy(label.as_bytes()).to_ascii_lowercase();
        let label = label.split(';').next().unwrap_or_default().trim();
        label.starts_with("text/") || label.ends_with("+json") || TEXTUAL.contains(&label)
    }
}

/// AWS leaves out what a request does not have. The rest may be empty.
fn without_empty(mut event: Value) -> Value {
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

/// Decoded; values of a repeated name are joined by commas.
fn parameters(query: &str) -> BTreeMap<String, String> {
    let mut parameters: BTreeMap<String, String> = BTreeMap::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let value = decoded(value);
        parameters.entry(decoded(name)).and_modify(|joined| *joined = format!("{joined},{value}")).or_insert(value);
    }
    parameters
}

/// A header's value: UTF-8, or else ISO 8859-1, so that no byte is lost.
fn text(value: &[u8]) -> String {
    let latin = |_| value.iter().copied().map(char::from).collect();
    std::str::from_utf8(value).map_or_else(latin, str::to_owned)
}

fn decoded(text: &str) -> String {
    let text = text.replace('+', " ");
    percent_decode_str(&text).decode_utf8_lossy().into_owned()
}
