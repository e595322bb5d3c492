//! Deduplication in FIFO queues. If a message has the deduplication id of a message that was stored in the last five
//! minutes, it is not stored, and its sender gets the ids of the stored message. Duplicates do not extend the five
//! minutes.

use rusqlite::{Connection, OptionalExtension, named_params, params};

use super::super::limits::DEDUPLICATION_WINDOW_MS;
use super::super::{Error, QueueDefinition};
use super::accepted_message::{AcceptedMessage, StoredMessageIds};
use crate::random_and_digest::sha256_hex;

/// Messages that are sent with equal keys within five minutes are duplicates of each other.
pub(super) struct DeduplicationKey<'a> {
    queue: &'a str,
    /// The message group, or empty if duplicates are detected across the whole queue.
    scope: &'a str,
    id: &'a str,
}

impl<'a> DeduplicationKey<'a> {
    /// Returns `None` in a standard queue, which has no deduplication.
    pub(super) fn of(queue: &'a QueueDefinition, message: &'a AcceptedMessage) -> Option<Self> {
        let group = message.group.as_deref().unwrap_or_default();
        let id = message.deduplication_id.as_deref()?;
        Some(Self { queue: &queue.name, scope: if queue.deduplication_per_group { group } else { "" }, id })
    }
}

/// Returns a message's deduplication id: the id that the sender set or, with content-based deduplication, the hash of
/// the body. Returns `None` in a standard queue.
pub(super) fn deduplication_id(
    queue: &QueueDefinition,
    sender_id: Option<String>,
    body: &str,
) -> Result<Option<String>, Error> {
    match (queue.is_fifo(), sender_id) {
        (true, Some(id)) => Ok(Some(id)),
        (true, None) if queue.content_based_deduplication => Ok(Some(sha256_hex(body))),
        (true, None) => Err(Error::MissingDeduplicationId),
        (false, None) => Ok(None),
        (false, Some(value)) => Err(Error::WrongQueueType { parameter: "MessageDeduplicationId", value }),
    }
}

/// Returns the ids of the message that was stored with this key in the last five minutes. Also deletes expired keys.
pub(super) fn find_original(
    connection: &Connection,
    key: &DeduplicationKey<'_>,
    now_ms: u64,
) -> Result<Option<StoredMessageIds>, Error> {
    delete_expired_keys(connection, now_ms)?;
    let original = connection
        .prepare_cached(
            "SELECT sequence, message_id FROM deduplication
             WHERE queue = ?1 AND scope = ?2 AND deduplication_id = ?3",
        )?
        .query_row(params![key.queue, key.scope, key.id], |row| {
            Ok(StoredMessageIds { sequence: row.get("sequence")?, message_id: row.get("message_id")? })
        })
        .optional()?;
    Ok(original)
}

fn delete_expired_keys(connection: &Connection, now_ms: u64) -> Result<(), Error> {
    connection
        .prepare_cached("DELETE FROM deduplication WHERE sent_at <= ?1")?
        .execute([now_ms.saturating_sub(DEDUPLICATION_WINDOW_MS)])?;
    Ok(())
}

pub(super) fn store_key(
    connection: &Connection,
    key: &DeduplicationKey<'_>,
    stored: &StoredMessageIds,
    now_ms: u64,
) -> Result<(), Error> {
    connection
        .prepare_cached(
            "INSERT INTO deduplication (queue, scope, deduplication_id, sent_at, message_id, sequence)
             VALUES (:queue, :scope, :id, :now, :message_id, :sequence)",
        )?
        .execute(named_params! {
            ":queue": key.queue,
            ":scope": key.scope,
            ":id": key.id,
            ":now": now_ms,
            ":message_id": stored.message_id,
            ":sequence": stored.sequence,
        })?;
    Ok(())
}
