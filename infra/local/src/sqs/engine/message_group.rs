//! Maintains the order in FIFO queues. Only the first message of a group has a due time, which is the time at which
//! this message and every received message of the group are visible. After every change of a group, [`refresh`] must be
//! called.

use rusqlite::{Connection, params};

use super::super::Error;
use super::super::queue_definition::is_fifo;

/// Recalculates when the first message of the group is due. Does nothing in a standard queue.
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
