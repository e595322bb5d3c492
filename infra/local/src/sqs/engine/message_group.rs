//! Order in FIFO queues. Only the first message of a group can be found by a receive, and not
//! before every message of the group that was received is visible again or deleted. So whoever
//! changes a group refreshes its first message, and nothing else has to be kept in step.

use rusqlite::{Connection, params};

use super::super::Error;
use super::super::definition::is_fifo;

/// Says anew when the group's first message is due. Standard queues know no groups.
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
