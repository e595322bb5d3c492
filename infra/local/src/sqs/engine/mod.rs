//! The rules of the queues, as short SQLite transactions. Everything is synchronous and `now_ms` is
//! an argument, so a test plays hours in microseconds.
//!
//! # Layout
//! - `schema.sql`: the tables and what their columns mean
//! - `send.rs`, `deduplication.rs`, `entry.rs`: a message comes in
//! - `receive.rs`, `due.rs`, `redrive.rs`: it goes out, or to the dead-letter queue
//! - `settle.rs`, `receipt.rs`: its receiver is done with it, or wants more time
//! - `group.rs`: what makes a FIFO queue keep its order
//! - `keep.rs`: retention, purge, and counting

mod deduplication;
mod due;
mod entry;
mod group;
mod keep;
mod receipt;
mod receive;
mod redrive;
mod send;
mod settle;

use std::path::PathBuf;

use rusqlite::{Connection, Transaction, TransactionBehavior};

pub(super) use receive::Wanted;

use super::Error;

/// Where the messages are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Storage {
    /// In memory, gone with the process.
    Memory,
    /// In this SQLite file, made if it is missing.
    File(PathBuf),
}

/// The database of all queues.
pub(super) struct Engine {
    connection: Connection,
}

impl Engine {
    pub(super) fn open(storage: &Storage) -> Result<Self, Error> {
        let connection = match storage {
            Storage::Memory => Connection::open_in_memory()?,
            Storage::File(path) => Connection::open(path)?,
        };
        // NORMAL with a write-ahead log: a killed process loses nothing that was committed, only a
        // power cut may; and a commit does not wait for the disk.
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        connection.set_prepared_statement_cache_capacity(64);
        connection.execute_batch(include_str!("schema.sql"))?;
        Ok(Self { connection })
    }

    /// A transaction that may write, rolled back unless it is committed.
    fn transaction(&self) -> Result<Transaction<'_>, Error> {
        let immediate = TransactionBehavior::Immediate;
        Ok(Transaction::new_unchecked(&self.connection, immediate)?)
    }
}

/// A FIFO sequence number as AWS writes it: 20 digits.
fn sequence_number(id: i64) -> String {
    format!("{id:020}")
}
