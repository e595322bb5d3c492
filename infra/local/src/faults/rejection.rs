//! The error responses that DynamoDB and SQS return for rejected requests.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;

const MESSAGE: &str = "injected by the fault plan";

#[derive(Debug, Clone, Copy)]
pub(crate) enum Rejection {
    Throttling,
    InternalError,
}

pub(crate) fn dynamodb_rejection(rejection: Rejection) -> Response {
    match rejection {
        Rejection::Throttling => dynamodb_error(StatusCode::BAD_REQUEST, "ProvisionedThroughputExceededException"),
        Rejection::InternalError => dynamodb_error(StatusCode::INTERNAL_SERVER_ERROR, "InternalServerError"),
    }
}

fn dynamodb_error(status: StatusCode, name: &str) -> Response {
    let body = json!({"__type": format!("com.amazonaws.dynamodb.v20120810#{name}"), "message": MESSAGE});
    (status, Json(body)).into_response()
}

pub(crate) fn sqs_rejection(rejection: Rejection) -> Response {
    match rejection {
        Rejection::Throttling => sqs_error(StatusCode::BAD_REQUEST, "RequestThrottled", "Sender"),
        Rejection::InternalError => sqs_error(StatusCode::INTERNAL_SERVER_ERROR, "InternalError", "Receiver"),
    }
}

fn sqs_error(status: StatusCode, name: &str, side: &str) -> Response {
    let header = [("x-amzn-query-error", format!("{name};{side}"))];
    let body = json!({"__type": format!("com.amazonaws.sqs#{name}"), "message": MESSAGE});
    (status, header, Json(body)).into_response()
}
