//! The Lambda Runtime API, under a base path for each process: `/runtime/{process}`.

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

use super::mailbox::{Mailbox, NotRunning, Registry};
use super::{Failure, MAX_PAYLOAD_BYTES};

/// What a function says about its error; it may say nothing.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Diagnostic {
    error_type: String,
    error_message: String,
}

pub(super) fn router(registry: Arc<Registry>) -> Router {
    let api = "/runtime/{process}/2018-06-01/runtime";
    Router::new()
        .route(&format!("{api}/invocation/next"), get(next))
        .route(&format!("{api}/invocation/{{request_id}}/response"), post(respond))
        .route(&format!("{api}/invocation/{{request_id}}/error"), post(fail))
        .route(&format!("{api}/init/error"), post(fail_init))
        .layer(DefaultBodyLimit::disable())
        .with_state(registry)
}

/// Waits until there is work.
async fn next(State(registry): State<Arc<Registry>>, Path(process): Path<Uuid>) -> Response {
    let Some(mailbox) = registry.mailbox(process) else {
        return StatusCode::FORBIDDEN.into_response();
    };
    match mailbox.next().await {
        Some((request_id, event)) => invocation(&mailbox, request_id, event),
        None => StatusCode::GONE.into_response(),
    }
}

fn invocation(mailbox: &Mailbox, request_id: String, event: Bytes) -> Response {
    let deadline = SystemTime::now() + mailbox.timeout;
    let deadline = deadline.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    let trace = format!("Root=1-{};Sampled=0", request_id.replace('-', ""));
    let headers = [
        ("lambda-runtime-aws-request-id", request_id),
        ("lambda-runtime-deadline-ms", deadline.to_string()),
        ("lambda-runtime-invoked-function-arn", mailbox.function_arn.clone()),
        ("lambda-runtime-trace-id", trace),
    ];
    ([(header::CONTENT_TYPE, "application/json")], headers, event).into_response()
}

async fn respond(
    State(registry): State<Arc<Registry>>,
    Path((process, request_id)): Path<(Uuid, String)>,
    body: Bytes,
) -> Response {
    let too_large = body.len() > MAX_PAYLOAD_BYTES;
    let answer = if too_large { Err(Failure::TooLarge(body.len())) } else { Ok(body) };
    let response = answered(&registry, process, &request_id, answer);
    if too_large { StatusCode::PAYLOAD_TOO_LARGE.into_response() } else { response }
}

async fn fail(
    State(registry): State<Arc<Registry>>,
    Path((process, request_id)): Path<(Uuid, String)>,
    body: Bytes,
) -> Response {
    let Diagnostic { error_type, error_message } = diagnostic(&body);
    let failure = Failure::Function { kind: error_type, message: error_message };
    answered(&registry, process, &request_id, Err(failure))
}

async fn fail_init(State(registry): State<Arc<Registry>>, Path(process): Path<Uuid>, body: Bytes) -> Response {
    let Diagnostic { error_type, error_message } = diagnostic(&body);
    let Some(mailbox) = registry.mailbox(process) else {
        return StatusCode::FORBIDDEN.into_response();
    };
    mailbox.fail_init(Failure::Init { kind: error_type, message: error_message });
    accepted()
}

fn answered(registry: &Registry, process: Uuid, request_id: &str, answer: Result<Bytes, Failure>) -> Response {
    let mailbox = registry.mailbox(process).ok_or(NotRunning);
    match mailbox.and_then(|mailbox| mailbox.answer(request_id, answer)) {
        Ok(()) => accepted(),
        Err(NotRunning) => {
            let error = json!({"errorType": "InvalidRequestID", "errorMessage": "Invalid request ID"});
            (StatusCode::BAD_REQUEST, Json(error)).into_response()
        }
    }
}

fn accepted() -> Response {
    (StatusCode::ACCEPTED, Json(json!({"status": "OK"}))).into_response()
}

fn diagnostic(body: &[u8]) -> Diagnostic {
    let value: Value = serde_json::from_slice(body).unwrap_or_default();
    serde_json::from_value(value).unwrap_or_default()
}
