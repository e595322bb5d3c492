//! The Lambda Runtime API over HTTP. Each process has its own base path: `/runtime/{process}`.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::error::InvocationError;
use super::mailbox::{Mailbox, UnknownRequestId};
use super::process_registry::ProcessRegistry;

/// Lambda's size limit for an invocation's event and for its response.
pub(crate) const MAX_PAYLOAD_BYTES: usize = 6 * 1024 * 1024;

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct ErrorReport {
    error_type: String,
    error_message: String,
}

pub(super) fn router(registry: Arc<ProcessRegistry>) -> Router {
    let base_path = "/runtime/{process}/2018-06-01/runtime";
    Router::new()
        .route(&format!("{base_path}/invocation/next"), get(next_invocation))
        .route(&format!("{base_path}/invocation/{{request_id}}/response"), post(report_response))
        .route(&format!("{base_path}/invocation/{{request_id}}/error"), post(report_error))
        .route(&format!("{base_path}/init/error"), post(report_init_error))
        .layer(DefaultBodyLimit::disable())
        .with_state(registry)
}

/// Waits until there is an event for the process, and responds with the event.
async fn next_invocation(State(registry): State<Arc<ProcessRegistry>>, Path(process): Path<Uuid>) -> Response {
    let Some(mailbox) = registry.mailbox(process) else {
        return StatusCode::FORBIDDEN.into_response();
    };
    match mailbox.next_event().await {
        Some((request_id, event)) => event_response(&mailbox, request_id, event),
        None => StatusCode::GONE.into_response(),
    }
}

fn event_response(mailbox: &Mailbox, request_id: String, event: Bytes) -> Response {
    let deadline = SystemTime::now() + mailbox.timeout;
    let deadline_ms = deadline.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    let hex_digits = request_id.replace('-', "");
    let (seconds, random) = hex_digits.split_at(8);
    let trace_id = format!("Root=1-{seconds}-{random};Sampled=0");
    let headers = [
        ("lambda-runtime-aws-request-id", request_id),
        ("lambda-runtime-deadline-ms", deadline_ms.to_string()),
        ("lambda-runtime-invoked-function-arn", mailbox.function_arn.clone()),
        ("lambda-runtime-trace-id", trace_id),
    ];
    ([(header::CONTENT_TYPE, "application/json")], headers, event).into_response()
}

async fn report_response(
    State(registry): State<Arc<ProcessRegistry>>,
    Path((process, request_id)): Path<(Uuid, String)>,
    body: Bytes,
) -> Response {
    let bytes = body.len();
    if bytes <= MAX_PAYLOAD_BYTES {
        return complete_invocation(&registry, process, &request_id, Ok(body));
    }
    let error = InvocationError::ResponseTooLarge { bytes, max_bytes: MAX_PAYLOAD_BYTES };
    complete_invocation(&registry, process, &request_id, Err(error));
    StatusCode::PAYLOAD_TOO_LARGE.into_response()
}

async fn report_error(
    State(registry): State<Arc<ProcessRegistry>>,
    Path((process, request_id)): Path<(Uuid, String)>,
    body: Bytes,
) -> Response {
    let ErrorReport { error_type, error_message } = parse_error_report(&body);
    let error = InvocationError::Function { error_type, message: error_message };
    complete_invocation(&registry, process, &request_id, Err(error))
}

async fn report_init_error(
    State(registry): State<Arc<ProcessRegistry>>,
    Path(process): Path<Uuid>,
    body: Bytes,
) -> Response {
    let ErrorReport { error_type, error_message } = parse_error_report(&body);
    let Some(mailbox) = registry.mailbox(process) else {
        return StatusCode::FORBIDDEN.into_response();
    };
    mailbox.set_init_error(InvocationError::InitFailed { error_type, message: error_message });
    accepted_response()
}

fn complete_invocation(
    registry: &ProcessRegistry,
    process: Uuid,
    request_id: &str,
    result: Result<Bytes, InvocationError>,
) -> Response {
    let mailbox = registry.mailbox(process).ok_or(UnknownRequestId);
    match mailbox.and_then(|mailbox| mailbox.respond(request_id, result)) {
        Ok(()) => accepted_response(),
        Err(UnknownRequestId) => {
            let error = json!({"errorType": "InvalidRequestID", "errorMessage": "Invalid request ID"});
            (StatusCode::BAD_REQUEST, Json(error)).into_response()
        }
    }
}

fn accepted_response() -> Response {
    (StatusCode::ACCEPTED, Json(json!({"status": "OK"}))).into_response()
}

/// Returns the error type and message in a body. Both are empty if the body is not the expected JSON.
fn parse_error_report(body: &[u8]) -> ErrorReport {
    let value: Value = serde_json::from_slice(body).unwrap_or_default();
    serde_json::from_value(value).unwrap_or_default()
}
