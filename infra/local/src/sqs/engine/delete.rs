//! A receiver is done with a message, or wants to keep it longer or shorter.

use rusqlite::{Connection, OptionalExtension, params};

use super::super::{Error, QueueDefinition, limits};
use super::receipt::Receipt;
use super::{Engine, group};

/// What became of a message since it was received.
struct Held {
    group: Option<String>,
    /// Nobody has received it since.
    latest: bool,
    /// It is hidden from other receivers.
    in_flight: bool,
}

impl Engine {
    /// Deletes a message. One that is gone already is no error. With an old handle a standard queue
    /// does nothing, silently; a FIFO queue refuses also the latest handle once the message is
    /// visible again, because order may be lost.
    pub(in super::super) fn delete(&self, queue: &QueueDefinition, handle: &str, now_ms: u64) -> Result<(), Error> {
        let receipt = Receipt::from_handle(queue, handle)?;
        let transaction = self.transaction()?;
        let Some(held) = held(&transaction, queue, receipt, now_ms)? else {
            return Ok(());
        };
        if queue.is_fifo() && !(held.latest && held.in_flight) {
            return Err(Error::ReceiptHandleExpired(handle.to_owned()));
        }
        if held.latest {
            remove(&transaction, receipt)?;
            group::refresh(&transaction, &queue.name, held.group.as_deref())?;
        }
        Ok(transaction.commit()?)
    }

    /// Makes a message in flight visible `seconds` from now.
    pub(in super::super) fn change_visibility(
        &self,
        queue: &QueueDefinition,
        handle: &str,
        seconds: u32,
        now_ms: u64,
    ) -> Result<(), Error> {
        limits::VISIBILITY_SECONDS.check(seconds)?;
        let receipt = Receipt::from_handle(queue, handle)?;
        let transaction = self.transaction()?;
        let held = held(&transaction, queue, receipt, now_ms)?
            .filter(|held| held.latest)
            .ok_or_else(|| Error::NotAvailable(handle.to_owned()))?;
        if !held.in_flight {
            return Err(Error::MessageNotInflight);
        }
        hide(&transaction, receipt, now_ms + u64::from(seconds) * 1000)?;
        group::refresh(&transaction, &queue.name, held.group.as_deref())?;
        Ok(transaction.commit()?)
    }
}

fn held(
    connection: &Connection,
    queue: &QueueDefinition,
    receipt: Receipt,
    now_ms: u64,
) -> Result<Option<Held>, Error> {
    let held = connection
        .prepare_cached(
            "SELECT group_id, receive_count = ?3 AS latest, visible_at > ?4 AS in_flight
             FROM messages WHERE id = ?1 AND queue = ?2",
        )?
        .query_row(params![receipt.id, queue.name, receipt.receive_count, now_ms], |row| {
            Ok(Held { group: row.get("group_id")?, latest: row.get("latest")?, in_flight: row.get("in_flight")? })
        })
        .optional()?;
    Ok(held)
}

fn remove(connection: &Connection, receipt: Receipt) -> Result<(), Error> {
    connection.prepare_cached("DELETE FROM messages WHERE id = ?1")?.execute([receipt.id])?;
    Ok(())
}

/// The first of a FIFO group, and every message of a standard queue, is due when it is visible; the
/// caller refreshes the group for the rest.
fn hide(connection: &Connection, receipt: Receipt, until_ms: u64) -> Result<(), Error> {
    connection
        .prepare_cached("UPDATE messages SET visible_at = ?2, due_at = iif(due_at IS NULL, NULL, ?2) WHERE id = ?1")?
        .execute(params![receipt.id, until_ms])?;
    Ok(())
}
