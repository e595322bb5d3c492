//! A message comes in: checked, compared with what was sent lately, stored.

use rusqlite::{Connection, named_params};
use uuid::Uuid;

use super::super::limits::{self, MAX_MESSAGE_BYTES};
use super::super::{Error, Outgoing, QueueDefinition, SentMessage};
use super::deduplication::{self, Key};
use super::entry::{Entry, Stored};
use super::{Engine, group, sequence_number};

impl Engine {
    /// Stores a message, unless a FIFO queue has it already: then the answer is the first one's.
    pub(in super::super) fn send(
        &self,
        queue: &QueueDefinition,
        outgoing: Outgoing,
        now_ms: u64,
    ) -> Result<SentMessage, Error> {
        let entry = check(queue, outgoing)?;
        let md5 = format!("{:x}", md5::compute(&entry.body));
        let transaction = self.transaction()?;
        let stored = store_once(&transaction, queue, &entry, &md5, now_ms)?;
        transaction.commit()?;
        Ok(SentMessage {
            message_id: stored.message_id,
            md5_of_body: md5,
            sequence_number: queue.is_fifo().then(|| sequence_number(stored.sequence)),
        })
    }
}

fn store_once(
    connection: &Connection,
    queue: &QueueDefinition,
    entry: &Entry,
    md5: &str,
    now_ms: u64,
) -> Result<Stored, Error> {
    let Some(key) = Key::of(queue, entry) else {
        return store(connection, queue, entry, md5, now_ms);
    };
    if let Some(first) = deduplication::find(connection, &key, now_ms)? {
        return Ok(first);
    }
    let stored = store(connection, queue, entry, md5, now_ms)?;
    deduplication::remember(connection, &key, &stored, now_ms)?;
    Ok(stored)
}

fn store(
    connection: &Connection,
    queue: &QueueDefinition,
    entry: &Entry,
    md5: &str,
    now_ms: u64,
) -> Result<Stored, Error> {
    let message_id = Uuid::now_v7().to_string();
    let visible_at = now_ms + entry.delay_ms;
    connection
        .prepare_cached(
            "INSERT INTO messages
                (queue, group_id, sent_at, visible_at, due_at, message_id, deduplication_id, md5, body)
             VALUES
                (:queue, :group, :now, :visible, :due, :message_id, :deduplication_id, :md5, :body)",
        )?
        .execute(named_params! {
            ":queue": queue.name,
            ":group": entry.group,
            ":now": now_ms,
            ":visible": visible_at,
            ":due": (!queue.is_fifo()).then_some(visible_at),
            ":message_id": message_id,
            ":deduplication_id": entry.deduplication_id,
            ":md5": md5,
            ":body": entry.body,
        })?;
    let sequence = connection.last_insert_rowid();
    group::refresh(connection, &queue.name, entry.group.as_deref())?;
    Ok(Stored { sequence, message_id })
}

fn check(queue: &QueueDefinition, outgoing: Outgoing) -> Result<Entry, Error> {
    check_body(&outgoing.body)?;
    check_id("MessageGroupId", outgoing.group.as_deref())?;
    check_id("MessageDeduplicationId", outgoing.deduplication_id.as_deref())?;
    let delay_seconds = delay_seconds(queue, outgoing.delay_seconds)?;
    if queue.is_fifo() && outgoing.group.is_none() {
        return Err(Error::MissingParameter("MessageGroupId"));
    }
    let deduplication_id = deduplication::id(queue, outgoing.deduplication_id, &outgoing.body)?;
    Ok(Entry {
        body: outgoing.body,
        delay_ms: u64::from(delay_seconds) * 1000,
        group: outgoing.group,
        deduplication_id,
    })
}

/// The message's own delay, or the queue's. A FIFO queue has only its own, because order would be
/// lost; 0 is let through, as on AWS, and means nothing.
fn delay_seconds(queue: &QueueDefinition, of_message: Option<u32>) -> Result<u32, Error> {
    let Some(seconds) = of_message else {
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
    match body.chars().find(|character| !is_allowed(*character)) {
        Some(character) => Err(Error::InvalidMessageContents(character)),
        None => Ok(()),
    }
}

/// The characters of XML 1.0, which SQS once spoke.
fn is_allowed(character: char) -> bool {
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
