//! What can go wrong, in the words of SQS. `protocol/fault.rs` gives each its code on the wire.

use super::definition::DefinitionError;
use super::limits::{MAX_BATCH_ENTRIES, MAX_MESSAGE_BYTES, OutOfRange};

/// Why a call was refused.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No definition has this name.
    #[error("The specified queue does not exist: {0}.")]
    QueueDoesNotExist(String),
    /// A required parameter is missing or empty.
    #[error("The request must contain the parameter {0}.")]
    MissingParameter(&'static str),
    /// A number is outside its limits.
    #[error(transparent)]
    OutOfRange(#[from] OutOfRange),
    /// A group or deduplication id that is too long or has a character outside printable ASCII.
    #[error(
        "Value {value} for parameter {parameter} is invalid. Reason: {parameter} can only include \
         alphanumeric and punctuation characters. 1 to 128 in length."
    )]
    InvalidId {
        /// The parameter, as the API spells it.
        parameter: &'static str,
        /// What was given.
        value: String,
    },
    /// A parameter of FIFO queues on a standard one, or the other way round.
    #[error(
        "Value {value} for parameter {parameter} is invalid. Reason: The request include parameter \
         that is not valid for this queue type."
    )]
    WrongQueueType {
        /// The parameter, as the API spells it.
        parameter: &'static str,
        /// What was given.
        value: String,
    },
    /// A FIFO message that cannot be deduplicated.
    #[error(
        "The queue should either have ContentBasedDeduplication enabled or MessageDeduplicationId \
         provided explicitly."
    )]
    NoDeduplicationId,
    /// The body is too long.
    #[error(
        "One or more parameters are invalid. Reason: Message must be shorter than {MAX_MESSAGE_BYTES} \
         bytes, this one has {0}."
    )]
    MessageTooLong(usize),
    /// The body has a character that XML, and so SQS, does not allow.
    #[error(
        "Invalid binary character '#x{code:X}' was found in the message body.",
        code = u32::from(*.0)
    )]
    InvalidMessageContents(char),
    /// The receipt handle is not one of this queue.
    #[error("The input receipt handle is invalid.")]
    ReceiptHandleIsInvalid,
    /// FIFO queues: the message became visible again, so it is not this receiver's any more.
    #[error("Value {0} for parameter ReceiptHandle is invalid. Reason: The receipt handle has expired.")]
    ReceiptHandleExpired(String),
    /// The message is gone, or was received again since.
    #[error(
        "Value {0} for parameter ReceiptHandle is invalid. Reason: Message does not exist or is not \
         available for visibility timeout change."
    )]
    NotAvailable(String),
    /// The message is not in flight.
    #[error("The specified message isn't in flight.")]
    MessageNotInflight,
    /// A batch without entries.
    #[error("There should be at least one entry in the batch request.")]
    EmptyBatchRequest,
    /// A batch with too many entries.
    #[error("Maximum number of entries per request are {MAX_BATCH_ENTRIES}. You have sent {0}.")]
    TooManyEntriesInBatchRequest(usize),
    /// Two entries of a batch share an id.
    #[error("Id {0} repeated.")]
    BatchEntryIdsNotDistinct(String),
    /// The id of a batch entry is not 1 to 80 letters, digits, - and _.
    #[error(
        "A batch entry id can only contain alphanumeric characters, hyphens and underscores. It can \
         be at most 80 letters long."
    )]
    InvalidBatchEntryId,
    /// The bodies of a batch are too long together.
    #[error("Batch requests cannot be longer than {MAX_MESSAGE_BYTES} bytes. You have sent {0} bytes.")]
    BatchRequestTooLong(usize),
    /// Not an attribute of queues or messages.
    #[error("Unknown Attribute {0}.")]
    InvalidAttributeName(String),
    /// Real SQS can do it, this one cannot.
    #[error("The local SQS does not support {0}.")]
    UnsupportedOperation(String),
    /// Not an action of SQS.
    #[error("The action {0} is not valid for this endpoint.")]
    InvalidAction(String),
    /// The request is not the JSON that the action takes.
    #[error("The request cannot be read: {0}.")]
    Malformed(#[source] serde_json::Error),
    /// The definitions contradict SQS or each other.
    #[error(transparent)]
    Definition(#[from] DefinitionError),
    /// The database failed.
    #[error("the queue database: {0}")]
    Storage(#[from] rusqlite::Error),
}
