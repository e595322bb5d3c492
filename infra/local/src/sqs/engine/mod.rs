//! Implements the queues' behaviour in short SQLite transactions. All functions block the calling thread. Functions
//! that depend on the time take it as the `now_ms` argument, so that tests can simulate hours.
//!
//! # Layout
//! - `database.rs`, `schema.sql`: the SQLite database, its tables and columns
//! - `send.rs`, `accepted_message.rs`, `deduplication.rs`: send messages
//! - `receive.rs`, `due_messages.rs`: receive messages
//! - `redrive.rs`: move messages to the dead-letter queue
//! - `delete.rs`, `visibility.rs`, `receipt_handle.rs`: delete a received message or change its visibility, and purge a
//!   queue
//! - `message_group.rs`: maintains the order in FIFO queues
//! - `retention.rs`, `depth.rs`: expire and count messages

mod accepted_message;
mod database;
mod deduplication;
mod delete;
mod depth;
mod due_messages;
mod message_group;
mod receipt_handle;
mod receive;
mod redrive;
mod retention;
mod send;
mod visibility;

pub(super) use database::Engine;
pub use database::QueueDatabaseLocation;
pub(super) use receive::ReceiveRequest;
