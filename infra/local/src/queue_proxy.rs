//! Stands before the local SQS and counts what each function uses. Every function has its own address:
//! `/sqs/{function}`.

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use serde::Deserialize;
use tower::ServiceExt;

use crate::sqs::Queues;
use crate::usage::Meter;

/// More than any request that SQS takes.
const LARGEST: usize = 16 * 1024 * 1024;

#[derive(Clone)]
struct Proxy {
    queues: Router,
    meter: Meter,
}

/// What counting needs to know of a request.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Call {
    queue_url: String,
}

/// `base_url` is what queue URLs begin with.
pub(crate) fn router(queues: &Queues, base_url: String, meter: Meter) -> Router {
    let queues = queues.router(base_url);
    Router::new()
        .route("/sqs/{function}", any(forward))
        .route("/sqs/{function}/", any(forward))
        .with_state(Proxy { queues, meter })
}

async fn forward(State(proxy): State<Proxy>, Path(function): Path<String>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    let Ok(body) = axum::body::to_bytes(body, LARGEST).await else {
        return StatusCode::PAYLOAD_TOO_LARGE.into_response();
    };
    if let Ok(call) = serde_json::from_slice::<Call>(&body) {
        let queue = call.queue_url.rsplit('/').next().unwrap_or_default();
        proxy.meter.sqs(&function, queue, action(&head.headers));
    }
    let request = Request::from_parts(head, Body::from(body));
    proxy.queues.oneshot(request).await.into_response()
}

/// The last part of `X-Amz-Target: AmazonSQS.SendMessage`.
fn action(headers: &HeaderMap) -> &str {
    let target = headers.get("x-amz-target").and_then(|target| target.to_str().ok());
    target.and_then(|target| target.rsplit('.').next()).unwrap_or_default()
}
