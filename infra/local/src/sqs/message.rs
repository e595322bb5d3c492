//! Messages on their way in and out. All times are milliseconds since 1970.

/// A message to be sent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outgoing {
    /// The text, at most 1 MiB.
    pub body: String,
    /// Standard queues: 0 to 900 s instead of the queue's own delay.
    pub delay_seconds: Option<u32>,
    /// FIFO queues: the group whose order is kept, required. Standard queues: the tenant of a fair
    /// queue, which changes nothing here.
    pub group: Option<String>,
    /// FIFO queues: two messages with one id within five minutes are one message.
    pub deduplication_id: Option<String>,
}

/// The receipt of a send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentMessage {
    /// The message's id; for a duplicate, the id of the first.
    pub message_id: String,
    /// The MD5 of the body in hexadecimal.
    pub md5_of_body: String,
    /// FIFO queues: 20 digits that grow with every message.
    pub sequence_number: Option<String>,
}

/// A message as received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The message's id, the same at every receive and in the dead-letter queue.
    pub message_id: String,
    /// Deletes this message; a new one at every receive.
    pub receipt_handle: String,
    /// The text.
    pub body: String,
    /// The MD5 of the body in hexadecimal.
    pub md5_of_body: String,
    /// When the message was sent.
    pub sent_at_ms: u64,
    /// When it was received for the first time.
    pub first_received_at_ms: u64,
    /// How often it was received, this time included.
    pub receive_count: u32,
    /// The group it was sent with.
    pub group: Option<String>,
    /// FIFO queues: the id it was sent with, or the hash of its body.
    pub deduplication_id: Option<String>,
    /// FIFO queues: its place in the queue.
    pub sequence_number: Option<String>,
}

/// How many messages a queue holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Depth {
    /// Waiting for a receiver. FIFO queues: also those behind a message of their group.
    pub visible: u64,
    /// Received and neither deleted nor visible again.
    pub in_flight: u64,
    /// Sent with a delay that is not over.
    pub delayed: u64,
}
