//! FIFO queues take a message once: a second one with the same deduplication id within five minutes
//! is answered like the first and not stored. The window starts with the first and is not
//! prolonged.

use std::fmt::Write as _;

use rusqlite::{Connection, OptionalExtension, named_params, params};
use sha2::{Digest, Sha256};

use super::super::limits::DEDUPLICATION_WINDOW_MS;
use super::super::{Error, QueueDefinition};
use super::entry::{Entry, Stored};

/// What makes two messages the same.
pub(super) struct Key<'a> {
    queue: &'a str,
    scope: &'a str,
    id: &'a str,
}

impl<'a> Key<'a> {
    /// `None` on a standard queue, which compares nothing.
    pub(super) fn of(queue: &'a QueueDefinition, entry: &'a Entry) -> Option<Self> {
        let group = entry.group.as_deref().unwrap_or_default();
        let id = entry.deduplication_id.as_deref()?;
        Some(Self { queue: &queue.name, scope: if queue.deduplication_per_group { group } else { "" }, id })
    }
}

/// The deduplication id of a message: the one given, or its body's hash where the queue says so.
pub(super) fn id(queue: &QueueDefinition, given: Option<String>, body: &str) -> Result<Option<String>, Error> {
    match (queue.is_fifo(), given) {
        (true, Some(id)) => Ok(Some(id)),
        (true, None) if queue.content_based_deduplication => Ok(Some(hash(body))),
        (true, None) => Err(Error::NoDeduplicationId),
        (false, None) => Ok(None),
        (false, Some(value)) => Err(Error::WrongQueueType { parameter: "MessageDeduplicationId", value }),
    }
}

/// The first message with this key, if it was sent in the last five minutes.
pub(super) fn find(connection: &Connection, key: &Key<'_>, now_ms: u64) -> Result<Option<Stored>, Error> {
    forget(connection, now_ms)?;
    let first = connection
        .prepare_cached(
            "SELECT sequence, message_id FROM deduplication
             WHERE queue = ?1 AND scope = ?2 AND deduplication_id = ?3",
        )?
        .query_row(params![key.queue, key.scope, key.id], |row| {
            Ok(Stored { sequence: row.get("sequence")?, message_id: row.get("message_id")? })
        })
        .optional()?;
    Ok(first)
}

fn forget(connection: &Connection, now_ms: u64) -> Result<(), Error> {
    connection
        .prepare_cached("DELETE FROM deduplication WHERE sent_at <= ?1")?
        .execute([now_ms.saturating_sub(DEDUPLICATION_WINDOW_MS)])?;
    Ok(())
}

/// Keeps the key of a message just stored.
pub(super) fn remember(connection: &Connection, key: &Key<'_>, stored: &Stored, now_ms: u64) -> Result<(), Error> {
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

fn hash(body: &str) -> String {
    let digest = Sha256::digest(body.as_bytes());
    digest.iter().fold(String::new(), |mut hexadecimal, byte| {
        // Writing to a String cannot fail.
        let _ = write!(hexadecimal, "{byte:02x}");
        hexadecimal
    })
}
