//! The SQLite database of all queues.

use std::path::PathBuf;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::super::Error;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QueueDatabaseLocation {
    /// The messages are lost when the process ends.
    Memory,
    /// The SQLite file is created if it does not exist.
    File(PathBuf),
}

pub(in super::super) struct Engine {
    pub(super) connection: Connection,
}

impl Engine {
    pub(in super::super) fn open(storage: &QueueDatabaseLocation) -> Result<Self, Error> {
        let connection = match storage {
            QueueDatabaseLocation::Memory => Connection::open_in_memory()?,
            QueueDatabaseLocation::File(path) => Connection::open(path)?,
        };
        // With a write-ahead log, NORMAL does not wait for the disk at each commit. If the process is killed, no commit
        // is lost, but after a power failure the latest commits may be missing.
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        connection.set_prepared_statement_cache_capacity(64);
        connection.execute_batch(include_str!("schema.sql"))?;
        Ok(Self { connection })
    }

    /// Starts a write transaction. The transaction is rolled back unless it is committed.
    pub(super) fn transaction(&self) -> Result<Transaction<'_>, Error> {
        let immediate = TransactionBehavior::Immediate;
        Ok(Transaction::new_unchecked(&self.connection, immediate)?)
    }
}

/// Formats a FIFO sequence number with 20 digits, as AWS does.
pub(super) fn sequence_number(id: i64) -> String {
    format!("{id:020}")
}
