//! Receives due messages in the order of their due times, and hides them for the visibility timeout.

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::super::{Error, Message, QueueDefinition, limits};
use super::database::{Engine, sequence_number};
use super::due_messages::{DueMessage, find_due};
use super::received_messages::ReceiptHandle;
use super::{redrive, retention};

#[derive(Debug, Clone, Copy)]
pub(in super::super) struct ReceiveRequest {
    pub(in super::super) max_messages: u32,
    /// The time for which the received messages are hidden. With `None`, the queue's timeout applies.
    pub(in super::super) visibility_timeout_seconds: Option<u32>,
}

#[derive(Debug)]
pub(in super::super) struct ReceiveResult {
    pub(in super::super) messages: Vec<Message>,
    /// Whether the receive moved messages to the dead-letter queue.
    pub(in super::super) has_dead_lettered: bool,
}

impl Engine {
    /// Receives up to `max_messages` due messages. Before that, deletes the queue's expired messages, and moves due
    /// messages that have reached their maximum receive count to the dead-letter queue.
    pub(in super::super) fn receive(
        &self,
        queue: &QueueDefinition,
        request: ReceiveRequest,
        now_ms: u64,
    ) -> Result<ReceiveResult, Error> {
        let ReceiveRequest { max_messages, visibility_timeout_seconds } = request;
        let visibility_timeout_seconds = visibility_timeout_seconds.unwrap_or(queue.visibility_timeout_seconds);
        limits::VISIBILITY_TIMEOUT_SECONDS.check(visibility_timeout_seconds)?;
        let visible_at_ms = now_ms + u64::from(visibility_timeout_seconds) * 1000;

        let transaction = self.transaction()?;
        retention::delete_expired(&transaction, queue, now_ms)?;
        let has_dead_lettered = redrive::move_exhausted(&transaction, queue, max_messages, now_ms)?;
        let mut messages = Vec::new();
        for id in select_messages(&transaction, queue, max_messages, now_ms)? {
            messages.push(mark_received(&transaction, queue, id, visible_at_ms, now_ms)?);
        }
        transaction.commit()?;
        Ok(ReceiveResult { messages, has_dead_lettered })
    }

    /// Returns the earliest due time of a message in the queue, or `None` if the queue is empty.
    pub(in super::super) fn next_due_ms(&self, queue: &QueueDefinition) -> Result<Option<u64>, Error> {
        let due_at = self
            .connection
            .prepare_cached(
                "SELECT due_at FROM messages WHERE queue = ?1 AND due_at IS NOT NULL
                 ORDER BY due_at LIMIT 1",
            )?
            .query_row([&queue.name], |row| row.get(0))
            .optional()?;
        Ok(due_at)
    }
}

/// Returns the ids of up to `max_messages` messages to receive. As on AWS, a FIFO queue returns as many messages as
/// possible from one group before it returns messages from the next one.
fn select_messages(
    connection: &Connection,
    queue: &QueueDefinition,
    max_messages: u32,
    now_ms: u64,
) -> Result<Vec<i64>, Error> {
    let mut ids = Vec::new();
    for first in find_due(connection, queue, max_messages, now_ms)? {
        ids.push(first.id);
        if queue.is_fifo() {
            ids.extend(select_rest_of_group(connection, queue, &first, max_messages, now_ms)?);
        }
    }
    ids.truncate(usize::try_from(max_messages).unwrap_or(usize::MAX));
    Ok(ids)
}

/// Selects the messages that follow the first one in a FIFO group. The selection stops at a message that is delayed or
/// has reached its maximum receive count, because later messages must not overtake that message.
fn select_rest_of_group(
    connection: &Connection,
    queue: &QueueDefinition,
    first: &DueMessage,
    max_messages: u32,
    now_ms: u64,
) -> Result<Vec<i64>, Error> {
    let mut statement = connection.prepare_cached(
        "SELECT id, visible_at, receive_count FROM messages
         WHERE queue = ?1 AND group_id = ?2 AND id > ?3 ORDER BY id LIMIT ?4",
    )?;
    let mut rows = statement.query(params![queue.name, first.group, first.id, max_messages.saturating_sub(1)])?;
    let mut ids = Vec::new();
    while let Some(row) = rows.next()? {
        let is_visible = row.get::<_, u64>("visible_at")? <= now_ms;
        if !is_visible || redrive::is_exhausted(queue, row.get("receive_count")?) {
            break;
        }
        ids.push(row.get("id")?);
    }
    Ok(ids)
}

fn mark_received(
    connection: &Connection,
    queue: &QueueDefinition,
    id: i64,
    visible_at_ms: u64,
    now_ms: u64,
) -> Result<Message, Error> {
    let message = connection
        .prepare_cached(
            "UPDATE messages SET
                visible_at = ?2,
                due_at = iif(due_at IS NULL, NULL, ?2),
                receive_count = receive_count + 1,
                first_received_at = coalesce(first_received_at, ?3)
             WHERE id = ?1 RETURNING *",
        )?
        .query_row(params![id, visible_at_ms, now_ms], |row| message_from_row(queue, row))?;
    Ok(message)
}

fn message_from_row(queue: &QueueDefinition, row: &Row<'_>) -> rusqlite::Result<Message> {
    let id = row.get("id")?;
    let receive_count = row.get("receive_count")?;
    Ok(Message {
        message_id: row.get("message_id")?,
        receipt_handle: ReceiptHandle { id, receive_count }.encode(queue),
        body: row.get("body")?,
        md5_of_body: row.get("md5")?,
        sent_at_ms: row.get("sent_at")?,
        first_received_at_ms: row.get("first_received_at")?,
        receive_count,
        group: row.get("group_id")?,
        deduplication_id: row.get("deduplication_id")?,
        sequence_number: queue.is_fifo().then(|| sequence_number(id)),
    })
}
