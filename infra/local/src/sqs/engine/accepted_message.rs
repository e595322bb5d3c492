//! A message between the check and the table.

/// A message that the queue accepts.
pub(super) struct Entry {
    pub(super) body: String,
    pub(super) delay_ms: u64,
    pub(super) group: Option<String>,
    pub(super) deduplication_id: Option<String>,
}

/// Where a message was stored.
pub(super) struct Stored {
    pub(super) sequence: i64,
    pub(super) message_id: String,
}
