//! Errors on the wire. SQS once spoke another protocol, and SDKs still tell its errors apart by the
//! codes of that one: they stand in the header `x-amzn-query-error`, while the body names the error
//! in today's spelling.

use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::super::Error;
use crate::terminal;

struct Fault {
    /// The error's type in the JSON protocol.
    kind: &'static str,
    /// Its code in the old protocol, with whose fault it is.
    code: &'static str,
}

/// An error as an HTTP response.
pub(super) fn response(error: &Error) -> Response {
    let fault = fault(error);
    let body = json!({ "__type": fault.kind, "message": message(error, &fault) });
    let mut response = (fault.status(), body.to_string()).into_response();
    let code = HeaderValue::from_static(fault.code);
    response.headers_mut().insert("x-amzn-query-error", code);
    response
}

/// An error as the result of one entry of a batch.
pub(super) fn batch_entry(error: &Error, id: &str) -> Value {
    let fault = fault(error);
    json!({
        "Id": id,
        "SenderFault": fault.is_senders(),
        "Code": fault.code.split(';').next(),
        "Message": message(error, &fault),
    })
}

impl Fault {
    fn is_senders(&self) -> bool {
        self.code.ends_with(";Sender")
    }

    fn status(&self) -> StatusCode {
        if self.is_senders() { StatusCode::BAD_REQUEST } else { StatusCode::INTERNAL_SERVER_ERROR }
    }
}

/// What the caller is told. Of a failing database that is nothing; the terminal has it.
fn message(error: &Error, fault: &Fault) -> String {
    if fault.is_senders() {
        return error.to_string();
    }
    terminal::complain(&error.to_string());
    "The request failed inside the queues.".to_owned()
}

fn fault(error: &Error) -> Fault {
    let (kind, code) = match error {
        Error::QueueDoesNotExist(_) => {
            ("com.amazonaws.sqs#QueueDoesNotExist", "AWS.SimpleQueueService.NonExistentQueue;Sender")
        }
        Error::MissingParameter(_) => {
            ("com.amazon.coral.service#MissingRequiredParameterException", "MissingParameter;Sender")
        }
        Error::OutOfRange(_)
        | Error::InvalidId { .. }
        | Error::WrongQueueType { .. }
        | Error::NoDeduplicationId
        | Error::MessageTooLong(_)
        | Error::ReceiptHandleExpired(_)
        | Error::NotAvailable(_) => {
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
        Error::Malformed(_) => ("com.amazon.coral.service#SerializationException", "SerializationException;Sender"),
        Error::Definition(_) | Error::Storage(_) => ("com.amazonaws.sqs#InternalError", "InternalError;Receiver"),
    };
    Fault { kind, code }
}
