//! Finds the messages in a queue that are due for delivery.

use rusqlite::{Connection, params};

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
