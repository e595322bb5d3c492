//! Creates error responses. The body contains the error type of the JSON protocol. The `x-amzn-query-error` header
//! contains the code of the older query protocol, because SDKs still use that code to tell errors apart.

use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::super::Error;
use crate::terminal;

struct ErrorCodes {
    json_type: &'static str,
    /// The code of the query protocol, followed by `;Sender` or `;Receiver`.
    query_code: &'static str,
}

pub(super) fn response(error: &Error) -> Response {
    let codes = error_codes(error);
    let body = json!({ "__type": codes.json_type, "message": message(error, &codes) });
    let mut response = (codes.status(), body.to_string()).into_response();
    let query_code = HeaderValue::from_static(codes.query_code);
    response.headers_mut().insert("x-amzn-query-error", query_code);
    response
}

pub(super) fn batch_entry(error: &Error, id: &str) -> Value {
    let codes = error_codes(error);
    json!({
        "Id": id,
        "SenderFault": codes.is_sender_fault(),
        "Code": codes.query_code.split(';').next(),
        "Message": message(error, &codes),
    })
}

impl ErrorCodes {
    fn is_sender_fault(&self) -> bool {
        self.query_code.ends_with(";Sender")
    }

    fn status(&self) -> StatusCode {
        if self.is_sender_fault() { StatusCode::BAD_REQUEST } else { StatusCode::INTERNAL_SERVER_ERROR }
    }
}

/// Returns the error message for the caller. An internal error is printed to the terminal, and the caller gets a
/// general message instead.
fn message(error: &Error, codes: &ErrorCodes) -> String {
    if codes.is_sender_fault() {
        return error.to_string();
    }
    terminal::print_error(&error.to_string());
    "The request failed inside the queues.".to_owned()
}

fn error_codes(error: &Error) -> ErrorCodes {
    let (json_type, query_code) = match error {
        Error::QueueDoesNotExist(_) => {
            ("com.amazonaws.sqs#QueueDoesNotExist", "AWS.SimpleQueueService.NonExistentQueue;Sender")
        }
        Error::MissingParameter(_) => {
            ("com.amazon.coral.service#MissingRequiredParameterException", "MissingParameter;Sender")
        }
        Error::OutOfRange(_)
        | Error::InvalidId { .. }
        | Error::WrongQueueType { .. }
        | Error::MissingDeduplicationId
        | Error::MessageTooLong(_)
        | Error::ReceiptHandleExpired(_)
        | Error::MessageNotAvailable(_) => {
            ("com.amazon.coral.service#InvalidParameterValueException", "InvalidParameterValue;Sender")
        }
        Error::InvalidMessageContents(_) => {
            ("com.amazonaws.sqs#InvalidMessageContents", "InvalidMessageContents;Sender")
        }
        Error::ReceiptHandleIsInvalid => ("com.amazonaws.sqs#ReceiptHandleIsInvalid", "ReceiptHandleIsInvalid;Sender"),
        Error::MessageNotInflight => {
            ("com.amazonaws.sqs#MessageNotInflight", "AWS.SimpleQueueService.MessageNotInflight;Sender")
        }
        Error::EmptyBatchRequest => {
            ("com.amazonaws.sqs#EmptyBatchRequest", "AWS.SimpleQueueService.EmptyBatchRequest;Sender")
        }
        Error::TooManyEntriesInBatchRequest(_) => (
            "com.amazonaws.sqs#TooManyEntriesInBatchRequest",
            "AWS.SimpleQueueService.TooManyEntriesInBatchRequest;Sender",
        ),
        Error::BatchEntryIdsNotDistinct(_) => {
            ("com.amazonaws.sqs#BatchEntryIdsNotDistinct", "AWS.SimpleQueueService.BatchEntryIdsNotDistinct;Sender")
        }
        Error::InvalidBatchEntryId => {
            ("com.amazonaws.sqs#InvalidBatchEntryId", "AWS.SimpleQueueService.InvalidBatchEntryId;Sender")
        }
        Error::BatchRequestTooLong(_) => {
            ("com.amazonaws.sqs#BatchRequestTooLong", "AWS.SimpleQueueService.BatchRequestTooLong;Sender")
        }
        Error::InvalidAttributeName(_) => ("com.amazonaws.sqs#InvalidAttributeName", "InvalidAttributeName;Sender"),
        Error::UnsupportedOperation(_) => {
            ("com.amazonaws.sqs#UnsupportedOperation", "AWS.SimpleQueueService.UnsupportedOperation;Sender")
        }
        Error::InvalidAction(_) => ("com.amazon.coral.service#UnknownOperationException", "InvalidAction;Sender"),
        Error::MalformedRequest(_) => {
            ("com.amazon.coral.service#SerializationException", "SerializationException;Sender")
        }
        Error::Definition(_) | Error::Storage(_) => ("com.amazonaws.sqs#InternalError", "InternalError;Receiver"),
    };
    ErrorCodes { json_type, query_code }
}
