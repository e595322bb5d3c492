//! Messages go out: those that are due, oldest first, hidden from others for the visibility
//! time-out.

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::super::{Error, Message, QueueDefinition, limits};
use super::due::{Due, due};
use super::receipt::Receipt;
use super::{Engine, keep, redrive, sequence_number};

/// What a receiver asks for.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Wanted {
    /// The most messages it takes.
    pub(in super::super) max: u32,
    /// How long they stay hidden, if not as long as the queue says.
    pub(in super::super) visibility_seconds: Option<u32>,
}

/// What it gets.
#[derive(Debug)]
pub(in super::super) struct Received {
    pub(in super::super) messages: Vec<Message>,
    /// Whether messages went to the dead-letter queue on the way.
    pub(in super::super) dead_lettered: bool,
}

impl Engine {
    /// Receives what is due, none if nothing is.
    pub(in super::super) fn receive(
        &self,
        queue: &QueueDefinition,
        wanted: Wanted,
        now_ms: u64,
    ) -> Result<Received, Error> {
        let visibility_seconds = wanted.visibility_seconds.unwrap_or(queue.visibility_seconds);
        limits::VISIBILITY_SECONDS.check(visibility_seconds)?;
        let visible_at = now_ms + u64::from(visibility_seconds) * 1000;

        let transaction = self.transaction()?;
        keep::expire(&transaction, queue, now_ms)?;
        let dead_lettered = redrive::clear(&transaction, queue, wanted.max, now_ms)?;
        let mut messages = Vec::new();
        for id in choose(&transaction, queue, wanted.max, now_ms)? {
            messages.push(deliver(&transaction, queue, id, visible_at, now_ms)?);
        }
        transaction.commit()?;
        Ok(Received { messages, dead_lettered })
    }

    /// The next moment when a receive may find something; `None` when the queue is empty.
    pub(in super::super) fn next_due(&self, queue: &QueueDefinition) -> Result<Option<u64>, Error> {
        let due = self
            .connection
            .prepare_cached(
                "SELECT due_at FROM messages WHERE queue = ?1 AND due_at IS NOT NULL
                 ORDER BY due_at LIMIT 1",
            )?
            .query_row([&queue.name], |row| row.get(0))
            .optional()?;
        Ok(due)
    }
}

/// The ids to deliver. As on AWS, a FIFO queue fills up from the first group before it turns to the
/// next.
fn choose(connection: &Connection, queue: &QueueDefinition, max: u32, now_ms: u64) -> Result<Vec<i64>, Error> {
    let mut chosen = Vec::new();
    for first in due(connection, queue, max, now_ms)? {
        chosen.push(first.id);
        if queue.is_fifo() {
            chosen.extend(behind(connection, queue, &first, max, now_ms)?);
        }
    }
    chosen.truncate(usize::try_from(max).unwrap_or(usize::MAX));
    Ok(chosen)
}

/// The messages that follow the first of a FIFO group without a gap: an earlier one that is
/// delayed, or on its way to the dead-letter queue, holds the later ones up.
fn behind(
    connection: &Connection,
    queue: &QueueDefinition,
    first: &Due,
    max: u32,
    now_ms: u64,
) -> Result<Vec<i64>, Error> {
    let mut statement = connection.prepare_cached(
        "SELECT id, visible_at, receive_count FROM messages
         WHERE queue = ?1 AND group_id = ?2 AND id > ?3 ORDER BY id LIMIT ?4",
    )?;
    let mut rows = statement.query(params![queue.name, first.group, first.id, max.saturating_sub(1)])?;
    let mut ids = Vec::new();
    while let Some(row) = rows.next()? {
        let visible = row.get::<_, u64>("visible_at")? <= now_ms;
        if !visible || redrive::is_exhausted(queue, row.get("receive_count")?) {
            break;
        }
        ids.push(row.get("id")?);
    }
    Ok(ids)
}

fn deliver(
    connection: &Connection,
    queue: &QueueDefinition,
    id: i64,
    visible_at: u64,
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
        .query_row(params![id, visible_at, now_ms], |row| read(queue, row))?;
    Ok(message)
}

fn read(queue: &QueueDefinition, row: &Row<'_>) -> rusqlite::Result<Message> {
    let id = row.get("id")?;
    let receive_count = row.get("receive_count")?;
    Ok(Message {
        message_id: row.get("message_id")?,
        receipt_handle: Receipt { id, receive_count }.to_handle(queue),
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
