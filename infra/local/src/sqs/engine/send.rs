//! Validates a message, deduplicates it and stores it.
//!
//! Deduplication in FIFO queues: if a message has the deduplication id of a message that was stored in the last five
//! minutes, it is not stored, and its sender gets the ids of the stored message. Duplicates do not extend the five
//! minutes.

use rusqlite::{Connection, OptionalExtension, named_params, params};
use uuid::Uuid;

use super::super::limits::{self, DEDUPLICATION_WINDOW_MS, MAX_MESSAGE_BYTES};
use super::super::{Error, QueueDefinition, QueueMessageToSend, SentMessage};
use super::database::{Engine, sequence_number};
use super::due_messages::refresh_group;
use crate::random_and_digest::sha256_hex;

/// A message that has passed validation.
struct AcceptedMessage {
    body: String,
    delay_ms: u64,
    group: Option<String>,
    deduplication_id: Option<String>,
}

/// The ids of a message that is stored.
struct StoredMessageIds {
    sequence: i64,
    message_id: String,
}

impl Engine {
    /// Stores a message and returns its ids. A duplicate in a FIFO queue is not stored, and the result contains the ids
    /// of the original message.
    pub(in super::super) fn send(
        &self,
        queue: &QueueDefinition,
        message: QueueMessageToSend,
        now_ms: u64,
    ) -> Result<SentMessage, Error> {
        let message = validate(queue, message)?;
        let md5 = format!("{:x}", md5::compute(&message.body));
        let transaction = self.transaction()?;
        let stored = store_unless_duplicate(&transaction, queue, &message, &md5, now_ms)?;
        transaction.commit()?;
        Ok(SentMessage {
            message_id: stored.message_id,
            md5_of_body: md5,
            sequence_number: queue.is_fifo().then(|| sequence_number(stored.sequence)),
        })
    }
}

fn store_unless_duplicate(
    connection: &Connection,
    queue: &QueueDefinition,
    message: &AcceptedMessage,
    md5: &str,
    now_ms: u64,
) -> Result<StoredMessageIds, Error> {
    let Some(key) = DeduplicationKey::of(queue, message) else {
        return store(connection, queue, message, md5, now_ms);
    };
    if let Some(original) = find_original(connection, &key, now_ms)? {
        return Ok(original);
    }
    let stored = store(connection, queue, message, md5, now_ms)?;
    store_key(connection, &key, &stored, now_ms)?;
    Ok(stored)
}

fn store(
    connection: &Connection,
    queue: &QueueDefinition,
    message: &AcceptedMessage,
    md5: &str,
    now_ms: u64,
) -> Result<StoredMessageIds, Error> {
    let message_id = Uuid::now_v7().to_string();
    let visible_at_ms = now_ms + message.delay_ms;
    connection
        .prepare_cached(
            "INSERT INTO messages
                (queue, group_id, sent_at, visible_at, due_at, message_id, deduplication_id, md5, body)
             VALUES
                (:queue, :group, :now, :visible, :due, :message_id, :deduplication_id, :md5, :body)",
        )?
        .execute(named_params! {
            ":queue": queue.name,
            ":group": message.group,
            ":now": now_ms,
            ":visible": visible_at_ms,
            ":due": (!queue.is_fifo()).then_some(visible_at_ms),
            ":message_id": message_id,
            ":deduplication_id": message.deduplication_id,
            ":md5": md5,
            ":body": message.body,
        })?;
    let sequence = connection.last_insert_rowid();
    refresh_group(connection, &queue.name, message.group.as_deref())?;
    Ok(StoredMessageIds { sequence, message_id })
}

fn validate(queue: &QueueDefinition, message: QueueMessageToSend) -> Result<AcceptedMessage, Error> {
    let QueueMessageToSend { body, delay_seconds, group, deduplication_id } = message;
    check_body(&body)?;
    check_id("MessageGroupId", group.as_deref())?;
    check_id("MessageDeduplicationId", deduplication_id.as_deref())?;
    let delay_seconds = effective_delay_seconds(queue, delay_seconds)?;
    if queue.is_fifo() && group.is_none() {
        return Err(Error::MissingParameter("MessageGroupId"));
    }
    let deduplication_id = effective_deduplication_id(queue, deduplication_id, &body)?;
    Ok(AcceptedMessage { body, delay_ms: u64::from(delay_seconds) * 1000, group, deduplication_id })
}

/// Returns the message's delay or, if it has none, the queue's delay. A FIFO queue rejects a message that has its own
/// delay, because the delay would break the order. As on AWS, it accepts a delay of 0 and applies the queue's delay.
fn effective_delay_seconds(queue: &QueueDefinition, message_delay_seconds: Option<u32>) -> Result<u32, Error> {
    let Some(seconds) = message_delay_seconds else {
        return Ok(queue.delay_seconds);
    };
    match (queue.is_fifo(), seconds) {
        (false, _) => Ok(limits::DELAY_SECONDS.check(seconds)?),
        (true, 0) => Ok(queue.delay_seconds),
        (true, _) => Err(Error::WrongQueueType { parameter: "DelaySeconds", value: seconds.to_string() }),
    }
}

fn check_body(body: &str) -> Result<(), Error> {
    if body.is_empty() {
        return Err(Error::MissingParameter("MessageBody"));
    }
    if body.len() > MAX_MESSAGE_BYTES {
        return Err(Error::MessageTooLong(body.len()));
    }
    match body.chars().find(|character| !is_xml_character(*character)) {
        Some(character) => Err(Error::InvalidMessageContents(character)),
        None => Ok(()),
    }
}

/// Returns whether SQS accepts the character. It accepts only characters allowed in XML 1.0, because its original
/// protocol used XML.
fn is_xml_character(character: char) -> bool {
    matches!(character, '\t' | '\n' | '\r' | ' '..='\u{FFFD}' | '\u{10000}'..)
}

fn check_id(parameter: &'static str, id: Option<&str>) -> Result<(), Error> {
    let Some(id) = id else {
        return Ok(());
    };
    if (1..=128).contains(&id.len()) && id.chars().all(|c| c.is_ascii_graphic()) {
        return Ok(());
    }
    Err(Error::InvalidId { parameter, value: id.to_owned() })
}

/// Messages that are sent with equal keys within five minutes are duplicates of each other.
struct DeduplicationKey<'a> {
    queue: &'a str,
    /// The message group, or empty if duplicates are detected across the whole queue.
    scope: &'a str,
    id: &'a str,
}

impl<'a> DeduplicationKey<'a> {
    /// Returns `None` in a standard queue, which has no deduplication.
    fn of(queue: &'a QueueDefinition, message: &'a AcceptedMessage) -> Option<Self> {
        let group = message.group.as_deref().unwrap_or_default();
        let id = message.deduplication_id.as_deref()?;
        Some(Self { queue: &queue.name, scope: if queue.deduplication_per_group { group } else { "" }, id })
    }
}

/// Returns a message's deduplication id: the id that the sender set or, with content-based deduplication, the hash of
/// the body. Returns `None` in a standard queue.
fn effective_deduplication_id(
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
fn find_original(
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

fn store_key(
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
