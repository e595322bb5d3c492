//! Deletes messages whose retention period has ended. They are deleted at the next receive from the queue. Until then,
//! they are not counted.

use rusqlite::{Connection, params};

use super::super::{Error, QueueDefinition};
use super::message_group;

pub(super) fn delete_expired(connection: &Connection, queue: &QueueDefinition, now_ms: u64) -> Result<(), Error> {
    let mut statement =
        connection.prepare_cached("DELETE FROM messages WHERE queue = ?1 AND sent_at <= ?2 RETURNING group_id")?;
    let groups = statement
        .query_map(params![queue.name, latest_expired_ms(queue, now_ms)], |row| row.get(0))?
        .collect::<Result<Vec<Option<String>>, _>>()?;
    for group in groups {
        message_group::refresh(connection, &queue.name, group.as_deref())?;
    }
    Ok(())
}

/// Returns the latest send time of an expired message: messages sent at or before this time have expired.
pub(super) fn latest_expired_ms(queue: &QueueDefinition, now_ms: u64) -> u64 {
    now_ms.saturating_sub(u64::from(queue.retention_seconds) * 1000)
}
