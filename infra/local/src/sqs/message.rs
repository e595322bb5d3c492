//! Sent and received messages. All times are milliseconds since 1970.

/// A message to send.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QueueMessageToSend {
    /// At most 1 MiB.
    pub body: String,
    /// Standard queues: overrides the delay of the queue, 0 to 900 s.
    pub delay_seconds: Option<u32>,
    /// The message group id. FIFO queues require it and deliver a group in order. In a standard queue it names the
    /// tenant of a fair queue, which the local SQS ignores.
    pub group: Option<String>,
    /// FIFO queues: a second message with the same id within five minutes is a duplicate.
    pub deduplication_id: Option<String>,
}

/// The result of a send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentMessage {
    /// For a duplicate, the id of the original message.
    pub message_id: String,
    /// In hexadecimal.
    pub md5_of_body: String,
    /// FIFO queues: 20 digits, increasing with every message.
    pub sequence_number: Option<String>,
}

/// A received message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The same for every receive, also in the dead-letter queue.
    pub message_id: String,
    /// Identifies this receive of the message; required to delete it.
    pub receipt_handle: String,
    pub body: String,
    /// In hexadecimal.
    pub md5_of_body: String,
    pub sent_at_ms: u64,
    pub first_received_at_ms: u64,
    /// Number of receives, including this one.
    pub receive_count: u32,
    /// The message group id.
    pub group: Option<String>,
    /// FIFO queues: the id that the sender set, or the hash of the body.
    pub deduplication_id: Option<String>,
    /// FIFO queues: the position in the queue.
    pub sequence_number: Option<String>,
}

/// The number of messages in a queue by state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QueueDepth {
    /// Not hidden by a delay or a visibility timeout. Includes messages of a FIFO group that is in flight.
    pub visible: u64,
    /// Received, not deleted, and their visibility timeout has not ended.
    pub in_flight: u64,
    /// Not received yet, and their delay has not ended.
    pub delayed: u64,
}
