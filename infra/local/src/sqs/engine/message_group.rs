//! Maintains the order in FIFO queues. Only the first message in a group has a due time: the time at which this message
//! and every received message in the group are visible. Every change to a group must call [`refresh`], unless it sets
//! the due time itself, as a receive does, or deletes the whole group, as a purge does.

use rusqlite::{Connection, params};

use super::super::Error;
use super::super::queue_definition::is_fifo;

/// Recalculates when the first message in the group is due. Does nothing in a standard queue.
pub(super) fn refresh(connection: &Connection, queue: &str, group: Option<&str>) -> Result<(), Error> {
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
