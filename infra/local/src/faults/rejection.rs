//! The error responses that the services of AWS return for rejected requests.

use axum::Json;
use axum::http::{StatusCode, header};
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

/// EventBridge accepts the request, but not its event. A throttled request is rejected as a whole.
pub(crate) fn event_bridge_rejection(rejection: Rejection) -> Response {
    match rejection {
        Rejection::Throttling => {
            let body = json!({"__type": "ThrottlingException", "message": MESSAGE});
            (StatusCode::BAD_REQUEST, Json(body)).into_response()
        }
        Rejection::InternalError => {
            let entry = json!({"ErrorCode": "InternalFailure", "ErrorMessage": MESSAGE});
            Json(json!({"FailedEntryCount": 1, "Entries": [entry]})).into_response()
        }
    }
}

pub(crate) fn sts_rejection(rejection: Rejection) -> Response {
    let (status, side, code) = match rejection {
        Rejection::Throttling => (StatusCode::BAD_REQUEST, "Sender", "Throttling"),
        Rejection::InternalError => (StatusCode::INTERNAL_SERVER_ERROR, "Receiver", "InternalFailure"),
    };
    let body = format!(
        "<ErrorResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><Error><Type>{side}</Type>\
         <Code>{code}</Code><Message>{MESSAGE}</Message></Error></ErrorResponse>"
    );
    (status, [(header::CONTENT_TYPE, "text/xml")], body).into_response()
}
