//! Types for sent and received messages. All times are milliseconds since 1970.

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QueueMessageToSend {
    pub body: String,
    /// The delay is 0 to 900 s. With `None`, the queue's delay applies. FIFO queues do not allow a delay other than 0.
    pub delay_seconds: Option<u32>,
    /// The message group id. FIFO queues require it and deliver the messages in a group in order. In a standard queue,
    /// it identifies a tenant for fair queues, which the local SQS does not implement.
    pub group: Option<String>,
    /// The deduplication id, for FIFO queues only. Another message with the same id within five minutes is a duplicate.
    /// With `None`, the hash of the body is used if the queue has content-based deduplication.
    pub deduplication_id: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentMessage {
    /// For a duplicate, this is the id of the original message.
    pub message_id: String,
    /// The MD5 hash in hexadecimal.
    pub md5_of_body: String,
    /// A 20-digit number that increases with every message. `None` in a standard queue.
    pub sequence_number: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The id is the same for every receive, even in the dead-letter queue.
    pub message_id: String,
    /// Identifies this receive of the message. It is required to delete the message.
    pub receipt_handle: String,
    pub body: String,
    /// The MD5 hash in hexadecimal.
    pub md5_of_body: String,
    pub sent_at_ms: u64,
    pub first_received_at_ms: u64,
    /// The count includes this receive.
    pub receive_count: u32,
    /// `None` if the sender did not set a message group id.
    pub group: Option<String>,
    /// The id that the sender set, or the hash of the body. `None` in a standard queue.
    pub deduplication_id: Option<String>,
    /// The number reflects the order in the queue. `None` in a standard queue.
    pub sequence_number: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QueueDepth {
    /// Counts the messages that are not hidden by a delay or a visibility timeout. This includes messages that cannot
    /// be received yet because an earlier message of their FIFO group is in flight.
    pub visible: u64,
    /// Counts the messages that have been received but not deleted, and whose visibility timeout has not ended.
    pub in_flight: u64,
    /// Counts the messages that have not been received yet, and whose delay has not ended.
    pub delayed: u64,
}
