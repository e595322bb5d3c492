//! Finds the messages in a queue that are due for delivery, and maintains the order in FIFO queues.
//!
//! Only the first message in a group has a due time: the time at which this message and every received message in the
//! group are visible. Every change to a group must call [`refresh_group`], unless it sets the due time itself, as a
//! receive does, or deletes the whole group, as a purge does.

use rusqlite::{Connection, params};

use super::super::queue_definition::is_fifo;
use super::super::{Error, QueueDefinition};

pub(super) struct DueMessage {
    pub(super) id: i64,
    pub(super) group: Option<String>,
    pub(super) receive_count: u32,
}

/// Returns at most `max_messages` due messages, in the order of their due times. In a FIFO group, only the first
/// message can be due.
pub(super) fn find_due(
    connection: &Connection,
    queue: &QueueDefinition,
    max_messages: u32,
    now_ms: u64,
) -> Result<Vec<DueMessage>, Error> {
    let mut statement = connection.prepare_cached(
        "SELECT id, group_id, receive_count FROM messages WHERE queue = ?1 AND due_at <= ?2
         ORDER BY due_at, id LIMIT ?3",
    )?;
    let rows = statement.query_map(params![queue.name, now_ms, max_messages], |row| {
        Ok(DueMessage { id: row.get("id")?, group: row.get("group_id")?, receive_count: row.get("receive_count")? })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Recalculates when the first message in the group is due. Does nothing in a standard queue.
pub(super) fn refresh_group(connection: &Connection, queue: &str, group: Option<&str>) -> Result<(), Error> {
    if !is_fifo(queue) {
        return Ok(());
    }
    connection
        .prepare_cached(
            "UPDATE messages SET due_at = max(visible_at, coalesce(
                (SELECT max(visible_at) FROM messages
                 WHERE queue = ?1 AND group_id = ?2 AND receive_count > 0), 0))
             WHERE id = (SELECT min(id) FROM messages WHERE queue = ?1 AND group_id = ?2)",
        )?
        .execute(params![queue, group])?;
    Ok(())
}
