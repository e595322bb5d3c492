//! Plays an SQS that takes no messages. What functions do about it would otherwise run on AWS for the first time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;

/// Refuses what functions send, once it is told to. Messages that are in the queues still come out. A clone is another
/// handle to the same.
#[derive(Clone, Default)]
pub(crate) struct Outage(Arc<AtomicBool>);

impl Outage {
    pub fn set(&self, refuses: bool) {
        self.0.store(refuses, Ordering::Relaxed);
    }

    /// What a request is answered that would send.
    pub fn refuses(&self, action: &str) -> Option<Response> {
        let is_refused = self.0.load(Ordering::Relaxed) && ["SendMessage", "SendMessageBatch"].contains(&action);
        let body = || {
            Json(json!({
                "__type": "com.amazonaws.sqs#ServiceUnavailable",
                "message": "The service is temporarily unavailable.",
            }))
        };
        let refusal = || {
            let code = [("x-amzn-query-error", "ServiceUnavailable;Receiver")];
            (StatusCode::SERVICE_UNAVAILABLE, code, body()).into_response()
        };
        is_refused.then(refusal)
    }
}
