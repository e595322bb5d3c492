//! What a queue holds: how much, how long, and emptying it.

use rusqlite::{Connection, params};

use super::super::{Depth, Error, QueueDefinition};
use super::{Engine, group};

impl Engine {
    /// Deletes every message of the queue, those in flight too.
    pub(in super::super) fn purge(&self, queue: &QueueDefinition) -> Result<(), Error> {
        self.connection.prepare_cached("DELETE FROM messages WHERE queue = ?1")?.execute([&queue.name])?;
        Ok(())
    }

    /// Counts the messages.
    pub(in super::super) fn depth(&self, queue: &QueueDefinition, now_ms: u64) -> Result<Depth, Error> {
        let depth = self
            .connection
            .prepare_cached(
                "SELECT
                    count(*) FILTER (WHERE visible_at <= ?2) AS visible,
                    count(*) FILTER (WHERE visible_at > ?2 AND receive_count > 0) AS in_flight,
                    count(*) FILTER (WHERE visible_at > ?2 AND receive_count = 0) AS delayed
                 FROM messages WHERE queue = ?1 AND sent_at > ?3",
            )?
            .query_row(params![queue.name, now_ms, too_old(queue, now_ms)], |row| {
                Ok(Depth {
                    visible: row.get("visible")?,
                    in_flight: row.get("in_flight")?,
                    delayed: row.get("delayed")?,
                })
            })?;
        Ok(depth)
    }
}

/// Deletes the messages whose retention is over.
pub(super) fn expire(connection: &Connection, queue: &QueueDefinition, now_ms: u64) -> Result<(), Error> {
    let mut statement =
        connection.prepare_cached("DELETE FROM messages WHERE queue = ?1 AND sent_at <= ?2 RETURNING group_id")?;
    let groups = statement
        .query_map(params![queue.name, too_old(queue, now_ms)], |row| row.get(0))?
        .collect::<Result<Vec<Option<String>>, _>>()?;
    for group in groups {
        group::refresh(connection, &queue.name, group.as_deref())?;
    }
    Ok(())
}

/// Messages sent then or before are not kept any more.
fn too_old(queue: &QueueDefinition, now_ms: u64) -> u64 {
    now_ms.saturating_sub(u64::from(queue.retention_seconds) * 1000)
}
