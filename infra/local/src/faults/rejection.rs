//! The error responses that DynamoDB and SQS return for rejected requests.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;

use super::RequestFault;

const MESSAGE: &str = "injected by the fault plan";

/// Returns the error response to a request that has no effect because of the fault, or `None` if the request is
/// processed.
pub(crate) fn dynamodb_rejection(fault: RequestFault) -> Option<Response> {
    match fault {
        RequestFault::Throttle => {
            Some(dynamodb_error(StatusCode::BAD_REQUEST, "ProvisionedThroughputExceededException"))
        }
        RequestFault::Fail => Some(dynamodb_error(StatusCode::INTERNAL_SERVER_ERROR, "InternalServerError")),
        RequestFault::LoseAnswer | RequestFault::Silence | RequestFault::Delay(_) => None,
    }
}

fn dynamodb_error(status: StatusCode, name: &str) -> Response {
    let body = json!({"__type": format!("com.amazonaws.dynamodb.v20120810#{name}"), "message": MESSAGE});
    (status, Json(body)).into_response()
}

/// Like [`dynamodb_rejection`], for SQS.
pub(crate) fn sqs_rejection(fault: RequestFault) -> Option<Response> {
    match fault {
        RequestFault::Throttle => Some(sqs_error(StatusCode::BAD_REQUEST, "RequestThrottled", "Sender")),
        RequestFault::Fail => Some(sqs_error(StatusCode::INTERNAL_SERVER_ERROR, "InternalError", "Receiver")),
        RequestFault::LoseAnswer | RequestFault::Silence | RequestFault::Delay(_) => None,
    }
}

fn sqs_error(status: StatusCode, name: &str, side: &str) -> Response {
    let header = [("x-amzn-query-error", format!("{name};{side}"))];
    let body = json!({"__type": format!("com.amazonaws.sqs#{name}"), "message": MESSAGE});
    (status, header, Json(body)).into_response()
}
