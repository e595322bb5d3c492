//! The errors that the local SQS returns. Most messages are the same as on AWS. `protocol/error_response.rs` maps each
//! error to its error code.

use super::limits::{MAX_BATCH_ENTRIES, MAX_MESSAGE_BYTES, OutOfRange};
use super::queue_definition::DefinitionError;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("The specified queue does not exist: {0}.")]
    QueueDoesNotExist(String),
    /// A required parameter is missing or empty.
    #[error("The request must contain the parameter {0}.")]
    MissingParameter(&'static str),
    #[error(transparent)]
    OutOfRange(#[from] OutOfRange),
    /// A message group id or deduplication id is empty or too long, or contains characters other than ASCII letters,
    /// digits and punctuation.
    #[error(
        "Value {value} for parameter {parameter} is invalid. Reason: {parameter} can only include \
         alphanumeric and punctuation characters. 1 to 128 in length."
    )]
    InvalidId { parameter: &'static str, value: String },
    /// A request to a standard queue contains a parameter that only FIFO queues support, or vice versa.
    #[error(
        "Value {value} for parameter {parameter} is invalid. Reason: The request include parameter \
         that is not valid for this queue type."
    )]
    WrongQueueType { parameter: &'static str, value: String },
    #[error(
        "The queue should either have ContentBasedDeduplication enabled or MessageDeduplicationId \
         provided explicitly."
    )]
    MissingDeduplicationId,
    /// The value is the length of the message body in bytes.
    #[error(
        "One or more parameters are invalid. Reason: Message must be shorter than {MAX_MESSAGE_BYTES} \
         bytes, this one has {0}."
    )]
    MessageTooLong(usize),
    /// The message body contains a character that XML 1.0 does not allow.
    #[error(
        "Invalid binary character '#x{code:X}' was found in the message body.",
        code = u32::from(*.0)
    )]
    InvalidMessageContents(char),
    /// The receipt handle is malformed or belongs to another queue.
    #[error("The input receipt handle is invalid.")]
    ReceiptHandleIsInvalid,
    /// The message is in a FIFO queue, and its visibility timeout has ended or it has been received again.
    #[error("Value {0} for parameter ReceiptHandle is invalid. Reason: The receipt handle has expired.")]
    ReceiptHandleExpired(String),
    /// The message has been deleted, or it has been received again since the handle was issued.
    #[error(
        "Value {0} for parameter ReceiptHandle is invalid. Reason: Message does not exist or is not \
         available for visibility timeout change."
    )]
    MessageNotAvailable(String),
    #[error("The specified message isn't in flight.")]
    MessageNotInflight,
    #[error("There should be at least one entry in the batch request.")]
    EmptyBatchRequest,
    #[error("Maximum number of entries per request are {MAX_BATCH_ENTRIES}. You have sent {0}.")]
    TooManyEntriesInBatchRequest(usize),
    #[error("Id {0} repeated.")]
    BatchEntryIdsNotDistinct(String),
    #[error(
        "A batch entry id can only contain alphanumeric characters, hyphens and underscores. It can \
         be at most 80 letters long."
    )]
    InvalidBatchEntryId,
    /// The value is the combined length of the message bodies in bytes.
    #[error("Batch requests cannot be longer than {MAX_MESSAGE_BYTES} bytes. You have sent {0} bytes.")]
    BatchRequestTooLong(usize),
    #[error("Unknown Attribute {0}.")]
    InvalidAttributeName(String),
    /// SQS supports this action or parameter, but the local SQS does not.
    #[error("The local SQS does not support {0}.")]
    UnsupportedOperation(String),
    #[error("The action {0} is not valid for this endpoint.")]
    InvalidAction(String),
    /// The request body is not the JSON that the action requires.
    #[error("The request cannot be read: {0}.")]
    MalformedRequest(#[source] serde_json::Error),
    #[error(transparent)]
    Definition(#[from] DefinitionError),
    #[error("the queue database: {0}")]
    Storage(#[from] rusqlite::Error),
}
