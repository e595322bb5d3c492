//! The error responses that the gateway itself sends. Unless noted, the status codes and messages are those of AWS.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GatewayError {
    NoRoute,
    /// The request line or a header is not valid HTTP. On AWS, such a request does not reach any API, so there is no
    /// response to emulate. The response has the format of the functions' error responses.
    InvalidHead {
        field: &'static str,
        /// The rule that the field violates.
        reason: &'static str,
    },
    /// The connection was closed before the body was complete. The response has the format of the functions' error
    /// responses.
    IncompleteBody,
    /// The request line and the headers together exceed the size limit.
    HeadersTooLarge,
    /// The request body or the function's event exceeds its size limit.
    PayloadTooLarge,
    /// The function exceeded the route's timeout.
    FunctionTimedOut,
    /// The invocation failed, or its result is not a valid response.
    FunctionFailed,
}

impl IntoResponse for GatewayError {
    fn into_response(self) -> Response {
        let (status, message) = match self {
            Self::NoRoute => (StatusCode::NOT_FOUND, "Not Found"),
            Self::InvalidHead { field, reason } => return bad_request(field, reason),
            Self::IncompleteBody => return bad_request("body", "is incomplete"),
            Self::HeadersTooLarge => (StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, "Request Header Fields Too Large"),
            Self::PayloadTooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "Request Entity Too Large"),
            Self::FunctionTimedOut => (StatusCode::SERVICE_UNAVAILABLE, "Service Unavailable"),
            Self::FunctionFailed => (StatusCode::INTERNAL_SERVER_ERROR, "Internal Server Error"),
        };
        (status, Json(json!({"message": message}))).into_response()
    }
}

fn bad_request(field: &str, reason: &str) -> Response {
    let error = json!({"code": "invalid_request", "message": format!("{field} {reason}"), "field": field});
    (StatusCode::BAD_REQUEST, Json(json!({"error": error}))).into_response()
}
