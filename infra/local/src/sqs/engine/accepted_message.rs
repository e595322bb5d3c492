//! A message that has passed validation, and the ids that it has once it is stored.

pub(super) struct AcceptedMessage {
    pub(super) body: String,
    pub(super) delay_ms: u64,
    pub(super) group: Option<String>,
    pub(super) deduplication_id: Option<String>,
}

pub(super) struct StoredMessageIds {
    pub(super) sequence: i64,
    pub(super) message_id: String,
}
