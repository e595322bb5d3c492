//! Serves the queues over HTTP in AWS JSON 1.0: the `X-Amz-Target` header names the action, and request and response
//! bodies are JSON. Signatures are not verified.
//!
//! # Layout
//! - `actions.rs`: one function per action
//! - `batch.rs`: entries and results of the batch actions
//! - `attributes.rs`: attributes of queues and messages by name
//! - `error_response.rs`: error codes and statuses

mod actions;
mod attributes;
mod batch;
mod error_response;
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
use crate::aws::operation::operation_name;

/// The name of the service in the `X-Amz-Target` header.
pub(crate) const SERVICE: &str = "AmazonSQS";

/// The maximum size of a request body. A 1 MiB batch can become up to six times as long when its characters are escaped
/// in JSON, for example as `\u0009`.
const MAX_BODY_BYTES: usize = 8 * 1024 * 1024;

#[derive(Clone)]
struct Api {
    queues: Queues,
    base_url: Arc<str>,
}

impl Queues {
    /// The router accepts any path, because the SDK sends requests to the root of the endpoint and the host can nest
    /// the router below another path. Queue URLs have the form `{base_url}/000000000000/{name}`.
    pub fn router(&self, base_url: String) -> Router {
        let api = Api { queues: self.clone(), base_url: base_url.into() };
        Router::new().fallback(handle).layer(DefaultBodyLimit::max(MAX_BODY_BYTES)).with_state(api)
    }
}

async fn handle(State(api): State<Api>, headers: HeaderMap, body: Bytes) -> Response {
    let mut response = match run(&api, &headers, &body).await {
        Ok(output) => output.to_string().into_response(),
        Err(error) => error_response::response(&error),
    };
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-amz-json-1.0"));
    if let Ok(id) = HeaderValue::from_str(&Uuid::now_v7().to_string()) {
        headers.insert("x-amzn-requestid", id);
    }
    response
}

async fn run(api: &Api, headers: &HeaderMap, body: &[u8]) -> Result<Value, Error> {
    let request = ApiRequest::parse(headers, body)?;
    let queue = request.queue.as_deref().unwrap_or_default();
    api.queues.request_counts.increment(queue, &request.action);
    actions::run(api, request).await
}

struct ApiRequest {
    action: String,
    queue: Option<String>,
    input: Value,
}

impl ApiRequest {
    fn parse(headers: &HeaderMap, body: &[u8]) -> Result<Self, Error> {
        let input = serde_json::from_slice(body).map_err(Error::MalformedRequest)?;
        Ok(Self {
            action: operation_name(headers, SERVICE).to_owned(),
            queue: queue_name(&input).map(str::to_owned),
            input,
        })
    }

    fn queue(&self) -> Result<&str, Error> {
        let queue = self.queue.as_deref();
        queue.ok_or(Error::MissingParameter("QueueUrl"))
    }

    fn input<T: DeserializeOwned>(&self) -> Result<T, Error> {
        T::deserialize(&self.input).map_err(Error::MalformedRequest)
    }
}

/// Returns the name of the queue in `QueueUrl` or `QueueName`, or `None` if the request names no queue. Only the last
/// part of the URL is used, because a client can reach this host through another base URL.
fn queue_name(input: &Value) -> Option<&str> {
    let text = |key| input.get(key).and_then(Value::as_str);
    let name_in_url = text("QueueUrl").and_then(|url| url.rsplit('/').next());
    name_in_url.or(text("QueueName")).filter(|name| !name.is_empty())
}
