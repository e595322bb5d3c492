//! The queues over HTTP in AWS JSON 1.0: the action in the header `X-Amz-Target`, JSON in and out.
//! Signatures are not looked at.
//!
//! # Layout
//! - `actions.rs`: one function per action
//! - `batch.rs`: what the batch actions have in common
//! - `attributes.rs`: attributes of queues and messages, by name
//! - `fault.rs`: errors as the SDK tells them apart

mod actions;
mod attributes;
mod batch;
mod fault;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse, Response};
use serde::de::DeserializeOwned;
use serde_json::Value;
use uuid::Uuid;

use super::{Error, Queues};
use crate::operation::operation;

/// What the header calls the service.
pub(crate) const SERVICE: &str = "AmazonSQS";

/// A batch of 1 MiB may be six times as long when JSON writes its characters as `\u0009`.
const MAX_BODY_BYTES: usize = 8 * 1024 * 1024;

#[derive(Clone)]
struct Api {
    queues: Queues,
    base_url: Arc<str>,
}

/// Serves every path: the SDK posts to the root of the endpoint, wherever the host has put it.
pub(super) fn router(queues: Queues, base_url: String) -> Router {
    let api = Api { queues, base_url: base_url.into() };
    Router::new().fallback(handle).layer(DefaultBodyLimit::max(MAX_BODY_BYTES)).with_state(api)
}

async fn handle(State(api): State<Api>, headers: HeaderMap, body: Bytes) -> Response {
    let mut response = match answer(&api, &headers, &body).await {
        Ok(output) => output.to_string().into_response(),
        Err(error) => fault::response(&error),
    };
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-amz-json-1.0"));
    if let Ok(id) = HeaderValue::from_str(&Uuid::now_v7().to_string()) {
        headers.insert("x-amzn-requestid", id);
    }
    response
}

async fn answer(api: &Api, headers: &HeaderMap, body: &[u8]) -> Result<Value, Error> {
    let call = Call::read(headers, body)?;
    let queue = call.queue.as_deref().unwrap_or_default();
    api.queues.usage.count(queue, &call.action);
    actions::run(api, call).await
}

/// A request, its queue already named.
struct Call {
    action: String,
    queue: Option<String>,
    input: Value,
}

impl Call {
    fn read(headers: &HeaderMap, body: &[u8]) -> Result<Self, Error> {
        let input = serde_json::from_slice(body).map_err(Error::Malformed)?;
        Ok(Self { action: operation(headers, SERVICE).to_owned(), queue: queue(&input).map(str::to_owned), input })
    }

    fn queue(&self) -> Result<&str, Error> {
        let queue = self.queue.as_deref();
        queue.ok_or(Error::MissingParameter("QueueUrl"))
    }

    fn input<T: DeserializeOwned>(&self) -> Result<T, Error> {
        T::deserialize(&self.input).map_err(Error::Malformed)
    }
}

/// The queue a request is about. Of a URL only the last part counts: a client may see the host
/// under another name.
fn queue(input: &Value) -> Option<&str> {
    let named = |key| input.get(key).and_then(Value::as_str);
    let of_url = named("QueueUrl").and_then(|url| url.rsplit('/').next());
    of_url.or(named("QueueName")).filter(|name| !name.is_empty())
}
