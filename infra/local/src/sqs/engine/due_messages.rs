//! Which messages of a queue are due.

use rusqlite::{Connection, params};

use super::super::{Error, QueueDefinition};

/// A message that a receive found.
pub(super) struct Due {
    pub(super) id: i64,
    pub(super) group: Option<String>,
    pub(super) receive_count: u32,
}

/// The messages that are due, at most `max`; of a FIFO group only the first.
pub(super) fn due(connection: &Connection, queue: &QueueDefinition, max: u32, now_ms: u64) -> Result<Vec<Due>, Error> {
    let mut statement = connection.prepare_cached(
        "SELECT id, group_id, receive_count FROM messages WHERE queue = ?1 AND due_at <= ?2
         ORDER BY due_at, id LIMIT ?3",
    )?;
    let rows = statement.query_map(params![queue.name, now_ms, max], |row| {
        Ok(Due { id: row.get("id")?, group: row.get("group_id")?, receive_count: row.get("receive_count")? })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}
