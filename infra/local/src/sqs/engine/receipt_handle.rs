//! Encodes and decodes receipt handles. A handle identifies one receive of one message. As on AWS, callers must not
//! interpret it.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rusqlite::{Connection, OptionalExtension, params};

use super::super::{Error, QueueDefinition};

/// The contents of a receipt handle. The pair of `id` and `receive_count` is unique, because ids are never reused and
/// every receive increments the count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ReceiptHandle {
    pub(super) id: i64,
    pub(super) receive_count: u32,
}

pub(super) struct ReceivedMessage {
    pub(super) group: Option<String>,
    /// Whether the message has not been received again since the handle was issued.
    pub(super) is_latest_receive: bool,
    pub(super) is_in_flight: bool,
}

impl ReceiptHandle {
    pub(super) fn encode(self, queue: &QueueDefinition) -> String {
        let text = format!("{}/{}/{}", queue.name, self.id, self.receive_count);
        URL_SAFE_NO_PAD.encode(text)
    }

    /// Fails if the handle is malformed or belongs to another queue.
    pub(super) fn decode(queue: &QueueDefinition, handle: &str) -> Result<Self, Error> {
        Self::parse(queue, handle).ok_or(Error::ReceiptHandleIsInvalid)
    }

    fn parse(queue: &QueueDefinition, handle: &str) -> Option<Self> {
        let text = String::from_utf8(URL_SAFE_NO_PAD.decode(handle).ok()?).ok()?;
        let rest = text.strip_prefix(&queue.name)?.strip_prefix('/')?;
        let (id, receive_count) = rest.split_once('/')?;
        Some(Self { id: id.parse().ok()?, receive_count: receive_count.parse().ok()? })
    }

    /// Returns `None` if the message is no longer in the queue.
    pub(super) fn find_message(
        self,
        connection: &Connection,
        queue: &QueueDefinition,
        now_ms: u64,
    ) -> Result<Option<ReceivedMessage>, Error> {
        let message = connection
            .prepare_cached(
                "SELECT group_id, receive_count = ?3 AS is_latest_receive, visible_at > ?4 AS is_in_flight
                 FROM messages WHERE id = ?1 AND queue = ?2",
            )?
            .query_row(params![self.id, queue.name, self.receive_count, now_ms], |row| {
                Ok(ReceivedMessage {
                    group: row.get("group_id")?,
                    is_latest_receive: row.get("is_latest_receive")?,
                    is_in_flight: row.get("is_in_flight")?,
                })
            })
            .optional()?;
        Ok(message)
    }
}
