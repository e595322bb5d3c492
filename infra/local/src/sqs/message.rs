//! Sent and received messages. All times are milliseconds since 1970.

/// A message to send.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QueueMessageToSend {
    /// The text of the message, at most 1 MiB.
    pub body: String,
    /// For standard queues: a delay of 0 to 900 s, which replaces the delay of the queue.
    pub delay_seconds: Option<u32>,
    /// The message group id. FIFO queues require it and deliver the messages of a group in order. In a standard queue,
    /// it names the tenant of a fair queue, and the local SQS ignores it.
    pub group: Option<String>,
    /// For FIFO queues: a second message with the same id within five minutes is a duplicate.
    pub deduplication_id: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentMessage {
    /// The message id. A duplicate has the id of the original message.
    pub message_id: String,
    /// The MD5 hash in hexadecimal.
    pub md5_of_body: String,
    /// For FIFO queues: 20 digits. The number increases with every message.
    pub sequence_number: Option<String>,
}

/// A received message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The message id, which is the same for every receive, even in the dead-letter queue.
    pub message_id: String,
    /// Identifies this receive of the message. It is required to delete the message.
    pub receipt_handle: String,
    pub body: String,
    /// The MD5 hash in hexadecimal.
    pub md5_of_body: String,
    pub sent_at_ms: u64,
    pub first_received_at_ms: u64,
    /// The number of receives, including this one.
    pub receive_count: u32,
    /// The message group id.
    pub group: Option<String>,
    /// For FIFO queues: the id that the sender set, or the hash of the body.
    pub deduplication_id: Option<String>,
    /// For FIFO queues: the position in the queue.
    pub sequence_number: Option<String>,
}

/// The number of messages in a queue by state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QueueDepth {
    /// The messages that are not hidden by a delay or a visibility timeout. This includes messages of a FIFO group that
    /// is in flight.
    pub visible: u64,
    /// The messages that have been received but not deleted, and whose visibility timeout has not ended.
    pub in_flight: u64,
    /// The messages that have not been received yet, and whose delay has not ended.
    pub delayed: u64,
}
