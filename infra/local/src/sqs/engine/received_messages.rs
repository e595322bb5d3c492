//! Deletes a received message, changes its visibility timeout, or deletes all messages in a queue (purge).
//!
//! A receipt handle identifies one receive of one message. As on AWS, callers must not interpret it.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rusqlite::{Connection, OptionalExtension, params};

use super::super::{Error, QueueDefinition, limits};
use super::database::Engine;
use super::due_messages::refresh_group;

impl Engine {
    /// Deletes a message. Succeeds if the message is already deleted.
    ///
    /// If the message has been received again since the handle was issued, a standard queue ignores the request, and a
    /// FIFO queue rejects it. Once the visibility timeout has ended, a FIFO queue also rejects the latest handle,
    /// because deleting the message could then break the order.
    pub(in super::super) fn delete(&self, queue: &QueueDefinition, handle: &str, now_ms: u64) -> Result<(), Error> {
        let receipt = ReceiptHandle::decode(queue, handle)?;
        let transaction = self.transaction()?;
        let Some(message) = receipt.find_message(&transaction, queue, now_ms)? else {
            return Ok(());
        };
        if queue.is_fifo() && !(message.is_latest_receive && message.is_in_flight) {
            return Err(Error::ReceiptHandleExpired(handle.to_owned()));
        }
        if message.is_latest_receive {
            transaction.prepare_cached("DELETE FROM messages WHERE id = ?1")?.execute([receipt.id])?;
            refresh_group(&transaction, &queue.name, message.group.as_deref())?;
        }
        Ok(transaction.commit()?)
    }

    /// Deletes every message in the queue, including those in flight.
    pub(in super::super) fn purge(&self, queue: &QueueDefinition) -> Result<(), Error> {
        self.connection.prepare_cached("DELETE FROM messages WHERE queue = ?1")?.execute([&queue.name])?;
        Ok(())
    }

    /// Makes the message visible again `seconds` from now.
    pub(in super::super) fn change_visibility(
        &self,
        queue: &QueueDefinition,
        handle: &str,
        seconds: u32,
        now_ms: u64,
    ) -> Result<(), Error> {
        limits::VISIBILITY_TIMEOUT_SECONDS.check(seconds)?;
        let receipt = ReceiptHandle::decode(queue, handle)?;
        let transaction = self.transaction()?;
        let message = receipt
            .find_message(&transaction, queue, now_ms)?
            .filter(|message| message.is_latest_receive)
            .ok_or_else(|| Error::MessageNotAvailable(handle.to_owned()))?;
        if !message.is_in_flight {
            return Err(Error::MessageNotInflight);
        }
        let visible_at = now_ms + u64::from(seconds) * 1000;
        transaction
            .prepare_cached(
                "UPDATE messages SET visible_at = ?2, due_at = iif(due_at IS NULL, NULL, ?2) WHERE id = ?1",
            )?
            .execute(params![receipt.id, visible_at])?;
        refresh_group(&transaction, &queue.name, message.group.as_deref())?;
        Ok(transaction.commit()?)
    }
}

/// The contents of a receipt handle. The pair of `id` and `receive_count` is unique, because ids are never reused and
/// every receive increments the count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ReceiptHandle {
    pub(super) id: i64,
    pub(super) receive_count: u32,
}

struct ReceivedMessage {
    group: Option<String>,
    /// Whether the message has not been received again since the handle was issued.
    is_latest_receive: bool,
    is_in_flight: bool,
}

impl ReceiptHandle {
    pub(super) fn encode(self, queue: &QueueDefinition) -> String {
        let text = format!("{}/{}/{}", queue.name, self.id, self.receive_count);
        URL_SAFE_NO_PAD.encode(text)
    }

    /// Fails if the handle is malformed or belongs to another queue.
    fn decode(queue: &QueueDefinition, handle: &str) -> Result<Self, Error> {
        Self::parse(queue, handle).ok_or(Error::ReceiptHandleIsInvalid)
    }

    fn parse(queue: &QueueDefinition, handle: &str) -> Option<Self> {
        let text = String::from_utf8(URL_SAFE_NO_PAD.decode(handle).ok()?).ok()?;
        let rest = text.strip_prefix(&queue.name)?.strip_prefix('/')?;
        let (id, receive_count) = rest.split_once('/')?;
        Some(Self { id: id.parse().ok()?, receive_count: receive_count.parse().ok()? })
    }

    /// Returns `None` if the message is no longer in the queue.
    fn find_message(
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
