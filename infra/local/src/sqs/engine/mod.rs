//! Implements the queues' behaviour in short SQLite transactions. All functions block the calling thread. Functions
//! that depend on the time take it as the `now_ms` argument, so that tests can simulate hours.
//!
//! # Layout
//! - `database.rs`, `schema.sql`: the SQLite database, its tables and columns
//! - `send.rs`: validates, deduplicates and stores messages
//! - `receive.rs`, `due_messages.rs`: receive messages, in the order of their groups
//! - `redrive.rs`: moves messages to the dead-letter queue
//! - `received_messages.rs`: deletes a received message or changes its visibility, and purges a queue
//! - `retention.rs`: expires and counts messages

mod database;
mod due_messages;
mod receive;
mod received_messages;
mod redrive;
mod retention;
mod send;

pub(super) use database::Engine;
pub use database::QueueDatabaseLocation;
pub(super) use receive::ReceiveRequest;
