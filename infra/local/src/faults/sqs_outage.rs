//! Simulates an SQS outage, so that tests can check how functions handle it. During the outage, functions can receive
//! messages but not send them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;

/// Clones share the state.
#[derive(Clone, Default)]
pub(crate) struct SqsOutage(Arc<AtomicBool>);

impl SqsOutage {
    pub fn set_active(&self, is_active: bool) {
        self.0.store(is_active, Ordering::Relaxed);
    }

    /// Returns the error response for a send action during an outage, or `None` if the request must be processed.
    pub fn reject(&self, action: &str) -> Option<Response> {
        let is_rejected = self.0.load(Ordering::Relaxed) && ["SendMessage", "SendMessageBatch"].contains(&action);
        let body = || {
            Json(json!({
                "__type": "com.amazonaws.sqs#ServiceUnavailable",
                "message": "The service is temporarily unavailable.",
            }))
        };
        let rejection = || {
            let code = [("x-amzn-query-error", "ServiceUnavailable;Receiver")];
            (StatusCode::SERVICE_UNAVAILABLE, code, body()).into_response()
        };
        is_rejected.then(rejection)
    }
}
