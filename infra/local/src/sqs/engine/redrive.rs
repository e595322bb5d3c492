//! Moves messages to the dead-letter queue. As on AWS, a message that has reached its maximum receive count
//! ("exhausted") is moved when the next receive would return it, not when its last visibility timeout ends.

use rusqlite::{Connection, named_params};

use super::super::{Error, QueueDefinition, RedrivePolicy};
use super::due_messages::{DueMessage, find_due, refresh_group};

pub(super) fn is_exhausted(queue: &QueueDefinition, receive_count: u32) -> bool {
    queue.redrive_policy.as_ref().is_some_and(|policy| receive_count >= policy.max_receive_count)
}

/// Moves exhausted messages until none of the next `max_messages` due messages is exhausted. Returns whether any
/// message was moved.
pub(super) fn move_exhausted(
    connection: &Connection,
    queue: &QueueDefinition,
    max_messages: u32,
    now_ms: u64,
) -> Result<bool, Error> {
    let Some(redrive_policy) = &queue.redrive_policy else {
        return Ok(false);
    };
    let mut has_moved = false;
    loop {
        let mut exhausted = find_due(connection, queue, max_messages, now_ms)?;
        exhausted.retain(|message| is_exhausted(queue, message.receive_count));
        if exhausted.is_empty() {
            return Ok(has_moved);
        }
        for message in exhausted {
            move_message(connection, queue, redrive_policy, &message, now_ms)?;
        }
        has_moved = true;
    }
}

/// Moves one message. The message keeps its message id, group and receive count. In a standard queue, it also keeps its
/// original send time, so its retention period continues. In a FIFO queue, the retention period restarts (SQS developer
/// guide, retention of dead-letter queues).
fn move_message(
    connection: &Connection,
    queue: &QueueDefinition,
    redrive_policy: &RedrivePolicy,
    message: &DueMessage,
    now_ms: u64,
) -> Result<(), Error> {
    let is_fifo = queue.is_fifo();
    connection
        .prepare_cached(
            "INSERT INTO messages (queue, group_id, sent_at, visible_at, due_at, receive_count,
                first_received_at, message_id, deduplication_id, md5, body)
             SELECT :target, group_id, coalesce(:sent, sent_at), :now, :due, receive_count,
                first_received_at, message_id, deduplication_id, md5, body
             FROM messages WHERE id = :id",
        )?
        .execute(named_params! {
            ":target": redrive_policy.dead_letter_queue,
            ":sent": is_fifo.then_some(now_ms),
            ":now": now_ms,
            ":due": (!is_fifo).then_some(now_ms),
            ":id": message.id,
        })?;
    connection.prepare_cached("DELETE FROM messages WHERE id = ?1")?.execute([message.id])?;
    refresh_group(connection, &queue.name, message.group.as_deref())?;
    refresh_group(connection, &redrive_policy.dead_letter_queue, message.group.as_deref())
}
