//! Counts a queue's messages by state.

use rusqlite::params;

use super::super::{Error, QueueDefinition, QueueDepth};
use super::database::Engine;
use super::retention;

impl Engine {
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
            .query_row(params![queue.name, now_ms, retention::latest_expired_ms(queue, now_ms)], |row| {
                Ok(QueueDepth {
                    visible: row.get("visible")?,
                    in_flight: row.get("in_flight")?,
                    delayed: row.get("delayed")?,
                })
            })?;
        Ok(depth)
    }
}
