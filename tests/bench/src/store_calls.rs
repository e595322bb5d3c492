//! A client of the tables without the SDK. With this client, the requests to DynamoDB that an invocation makes are
//! recorded and replayed without running the function. The duration of the replay is a lower bound for the duration of
//! the invocation.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use futures_util::future::try_join_all;
use reqwest::Client;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::error::Error;

/// The number of the first entry that a repeated request stores. It is far above the numbers of the chat's entries, so
/// it is not used yet.
const FIRST_SEQ: u64 = 5_000_000;

#[derive(Debug, Clone)]
pub(crate) struct StoreCall {
    /// The value of `X-Amz-Target`.
    pub target: String,
    pub body: Value,
}

impl StoreCall {
    /// Returns the parts that depend neither on the message nor on the time: the operation, the keys, and the
    /// expressions without the number of the current rate counter.
    pub fn shape(&self) -> Value {
        let field = |name: &str| self.body.get(name).cloned().unwrap_or_default();
        let attributes = field("Item").as_object().map(|item| item.keys().cloned().collect::<BTreeSet<_>>());
        let values =
            field("ExpressionAttributeValues").as_object().map(|it| it.keys().cloned().collect::<BTreeSet<_>>());
        let expressions = ["UpdateExpression", "ConditionExpression"].map(|name| without_counter_numbers(&field(name)));
        let same = ["TableName", "Key", "ConsistentRead", "ReturnValues"].map(field);
        json!([self.target, same, expressions, attributes, values])
    }
}

/// Removes the number from each attribute name such as `rate_9`. The number changes every ten seconds.
fn without_counter_numbers(expression: &Value) -> Option<String> {
    let parts = expression.as_str()?.split("rate_").map(|part| part.trim_start_matches(|it: char| it.is_ascii_digit()));
    Some(parts.collect::<Vec<_>>().join("rate_"))
}

/// A proxy in front of the tables that records requests. It stops when this value is dropped.
pub(crate) struct Recorder {
    pub url: String,
    calls: Arc<Mutex<Vec<StoreCall>>>,
    server: JoinHandle<()>,
}

/// A client of the tables without the SDK.
#[derive(Clone)]
pub(crate) struct Store {
    http: Client,
    tables_url: String,
}

#[derive(Clone)]
struct Proxy {
    store: Store,
    calls: Arc<Mutex<Vec<StoreCall>>>,
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Recorder {
    pub async fn start(tables_url: &str) -> Result<Self, Error> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let url = format!("http://{}", listener.local_addr()?);
        let calls = Arc::default();
        let proxy = Proxy { store: Store::new(tables_url)?, calls: Arc::clone(&calls) };
        let router = Router::new().fallback(forward).with_state(proxy);
        let server = tokio::spawn(async move { drop(axum::serve(listener, router).await) });
        Ok(Self { url, calls, server })
    }

    /// Returns the requests since the last call to this method.
    pub fn take(&self) -> Vec<StoreCall> {
        std::mem::take(&mut *self.calls.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

async fn forward(State(proxy): State<Proxy>, headers: HeaderMap, body: Bytes) -> Response {
    let target = headers.get("x-amz-target").and_then(|target| target.to_str().ok()).unwrap_or_default().to_owned();
    let call = StoreCall { target, body: serde_json::from_slice(&body).unwrap_or_default() };
    let response = proxy.store.send(&call.target, call.body.to_string()).await;
    proxy.calls.lock().unwrap_or_else(PoisonError::into_inner).push(call);
    match response {
        Ok((status, body)) => (status, [("content-type", "application/x-amz-json-1.0")], body).into_response(),
        Err(_) => StatusCode::BAD_GATEWAY.into_response(),
    }
}

impl Store {
    pub fn new(tables_url: &str) -> Result<Self, Error> {
        Ok(Self { http: http_client()?, tables_url: tables_url.to_owned() })
    }

    /// Makes a request, for example `GetItem`. Fails if the status of the response is not 200.
    pub async fn call(&self, operation: &str, body: &Value) -> Result<Value, Error> {
        self.call_target(&format!("DynamoDB_20120810.{operation}"), body).await
    }

    async fn call_target(&self, target: &str, body: &Value) -> Result<Value, Error> {
        match self.send(target, body.to_string()).await? {
            (StatusCode::OK, body) => Ok(serde_json::from_slice(&body)?),
            (_, body) => Err(Error::unexpected(format!("{target}: {}", String::from_utf8_lossy(&body)))),
        }
    }

    async fn send(&self, target: &str, body: String) -> Result<(StatusCode, Bytes), Error> {
        let request = self.http.post(&self.tables_url).header("x-amz-target", target);
        let request = request.header("content-type", "application/x-amz-json-1.0").body(body);
        let response = request.send().await?;
        Ok((response.status(), response.bytes().await?))
    }
}

pub(crate) fn set_attributes(item: &mut Value, attributes: impl IntoIterator<Item = (&'static str, Value)>) {
    if let Some(item) = item.as_object_mut() {
        item.extend(attributes.into_iter().map(|(name, value)| (name.to_owned(), value)));
    }
}

pub(crate) fn string(value: impl Into<String>) -> Value {
    json!({"S": value.into()})
}

pub(crate) fn number(value: u64) -> Value {
    json!({"N": value.to_string()})
}

pub(crate) fn http_client() -> Result<Client, Error> {
    Ok(Client::builder().no_proxy().build()?)
}

/// Repeats the requests of an invocation that stored a visitor's message.
pub(crate) struct StoreCallRepeater {
    store: Store,
    calls: Vec<StoreCall>,
    next_seq: u64,
}

impl StoreCallRepeater {
    pub fn new(tables_url: &str, mut calls: Vec<StoreCall>) -> Result<Self, Error> {
        // Disables the limit on the visitor's messages, which would end the measurement after a thousand messages.
        for call in &mut calls {
            for (bound, value) in [(":lowest", 0), (":highest", u64::MAX)] {
                if let Some(attribute) = call.body.pointer_mut(&format!("/ExpressionAttributeValues/{bound}")) {
                    *attribute = number(value);
                }
            }
        }
        Ok(Self { store: Store::new(tables_url)?, calls, next_seq: FIRST_SEQ })
    }

    /// Makes all requests but the last at the same time, like `channel-receive-message` for a further message, and then
    /// the last one. Returns the time that they take.
    pub async fn repeat(&mut self) -> Result<Duration, Error> {
        for call in &mut self.calls {
            if let Some(item) = call.body.get_mut("Item") {
                set_attributes(
                    item,
                    [("sk", string(format!("{:010}", self.next_seq))), ("seq", number(self.next_seq))],
                );
            }
        }
        self.next_seq += 1;
        let started = Instant::now();
        if let Some((last, others)) = self.calls.split_last() {
            try_join_all(others.iter().map(|call| self.store.call_target(&call.target, &call.body))).await?;
            self.store.call_target(&last.target, &last.body).await?;
        }
        Ok(started.elapsed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shape_depends_on_the_operation_but_not_on_the_time() {
        let update = |expression: &str| {
            let body = json!({ "UpdateExpression": expression });
            StoreCall { target: "DynamoDB_20120810.UpdateItem".to_owned(), body }.shape()
        };
        assert_eq!(update("SET #rate_9 = :n REMOVE #rate_10"), update("SET #rate_31 = :n REMOVE #rate_0"));
        assert_ne!(update("SET #rate_9 = :n REMOVE #rate_10"), update("SET #rate_9 = :n"));
        assert_ne!(update("SET #rate_9 = :n"), update("SET #seq = :n"));
    }
}
