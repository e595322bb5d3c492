//! What the gateway answers by itself, in AWS's words.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;

/// Why a request got no answer of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    /// No route.
    NotFound,
    /// A head that HTTP does not allow. On AWS such a request reaches no API, so the answer has the service's own format.
    BadRequest {
        /// What is wrong.
        field: &'static str,
        /// What it should be.
        expected: &'static str,
    },
    /// Request line and headers.
    HeadTooLarge,
    /// Body or event.
    TooLarge,
    /// The function took longer than the gateway waits.
    Unavailable,
    /// The function failed, or gave no response that HTTP can carry.
    Failed,
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let (status, message) = match self {
            Self::NotFound => (StatusCode::NOT_FOUND, "Not Found"),
            Self::BadRequest { field, expected } => return bad_request(field, expected),
            Self::HeadTooLarge => (StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, "Request Header Fields Too Large"),
            Self::TooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "Request Entity Too Large"),
            Self::Unavailable => (StatusCode::SERVICE_UNAVAILABLE, "Service Unavailable"),
            Self::Failed => (StatusCode::INTERNAL_SERVER_ERROR, "Internal Server Error"),
        };
        (status, Json(json!({"message": message}))).into_response()
    }
}

fn bad_request(field: &str, expected: &str) -> Response {
    let error = json!({"code": "invalid_request", "message": format!("{field} {expected}"), "field": field});
    (StatusCode::BAD_REQUEST, Json(json!({"error": error}))).into_response()
}
