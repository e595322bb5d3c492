//! Deletes messages whose retention period has ended. They are deleted at the next receive from the queue. Until then,
//! they are not counted.

use rusqlite::{Connection, params};

use super::super::{Error, QueueDefinition, QueueDepth};
use super::database::Engine;
use super::due_messages::refresh_group;

impl Engine {
    /// Counts the queue's messages by state.
    pub(in super::super) fn depth(&self, queue: &QueueDefinition, now_ms: u64) -> Result<QueueDepth, Error> {
        let depth = self
            .connection
            .prepare_cached(
                "SELECT
                    count(*) FILTER (WHERE visible_at <= ?2) AS visible,
                    count(*) FILTER (WHERE visible_at > ?2 AND receive_count > 0) AS in_flight,
                    count(*) FILTER (WHERE visible_at > ?2 AND receive_count = 0) AS delayed
                 FROM messages WHERE queue = ?1 AND sent_at > ?3",
            )?
            .query_row(params![queue.name, now_ms, latest_expired_ms(queue, now_ms)], |row| {
                Ok(QueueDepth {
                    visible: row.get("visible")?,
                    in_flight: row.get("in_flight")?,
                    delayed: row.get("delayed")?,
                })
            })?;
        Ok(depth)
    }
}

pub(super) fn delete_expired(connection: &Connection, queue: &QueueDefinition, now_ms: u64) -> Result<(), Error> {
    let mut statement =
        connection.prepare_cached("DELETE FROM messages WHERE queue = ?1 AND sent_at <= ?2 RETURNING group_id")?;
    let groups = statement
        .query_map(params![queue.name, latest_expired_ms(queue, now_ms)], |row| row.get(0))?
        .collect::<Result<Vec<Option<String>>, _>>()?;
    for group in groups {
        refresh_group(connection, &queue.name, group.as_deref())?;
    }
    Ok(())
}

/// Returns the latest send time of an expired message: messages sent at or before this time have expired.
fn latest_expired_ms(queue: &QueueDefinition, now_ms: u64) -> u64 {
    now_ms.saturating_sub(u64::from(queue.retention_seconds) * 1000)
}
