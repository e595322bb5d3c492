//! The dead-letter queue takes what was received too often. As on AWS a message moves when it would
//! be received once more, not when its last visibility time-out ends.

use rusqlite::{Connection, named_params};

use super::super::{DeadLetter, Error, QueueDefinition};
use super::due::{Due, due};
use super::group;

pub(super) fn is_exhausted(queue: &QueueDefinition, receive_count: u32) -> bool {
    queue.dead_letter.as_ref().is_some_and(|dead_letter| receive_count >= dead_letter.max_receives)
}

/// Moves exhausted messages until none is among the next `max`. Whether there was one.
pub(super) fn clear(connection: &Connection, queue: &QueueDefinition, max: u32, now_ms: u64) -> Result<bool, Error> {
    let Some(dead_letter) = &queue.dead_letter else {
        return Ok(false);
    };
    let mut moved = false;
    loop {
        let mut exhausted = due(connection, queue, max, now_ms)?;
        exhausted.retain(|message| is_exhausted(queue, message.receive_count));
        if exhausted.is_empty() {
            return Ok(moved);
        }
        for message in exhausted {
            transfer(connection, queue, dead_letter, &message, now_ms)?;
        }
        moved = true;
    }
}

/// Moves one message. It keeps its id, its group and its count. A FIFO queue takes it as sent now,
/// a standard queue keeps the time of sending, so its retention goes on (developer guide,
/// "dead-letter queue retention").
fn transfer(
    connection: &Connection,
    queue: &QueueDefinition,
    dead_letter: &DeadLetter,
    message: &Due,
    now_ms: u64,
) -> Result<(), Error> {
    let fifo = queue.is_fifo();
    connection
        .prepare_cached(
            "INSERT INTO messages (queue, group_id, sent_at, visible_at, due_at, receive_count,
                first_received_at, message_id, deduplication_id, md5, body)
             SELECT :target, group_id, coalesce(:sent, sent_at), :now, :due, receive_count,
                first_received_at, message_id, deduplication_id, md5, body
             FROM messages WHERE id = :id",
        )?
        .execute(named_params! {
            ":target": dead_letter.queue,
            ":sent": fifo.then_some(now_ms),
            ":now": now_ms,
            ":due": (!fifo).then_some(now_ms),
            ":id": message.id,
        })?;
    connection.prepare_cached("DELETE FROM messages WHERE id = ?1")?.execute([message.id])?;
    group::refresh(connection, &queue.name, message.group.as_deref())?;
    group::refresh(connection, &dead_letter.queue, message.group.as_deref())
}
