//! Emulates DynamoDB with the `dynoxide-rs` crate, which runs in this process and uses one SQLite database.
//!
//! # Layout
//! - `engine.rs`: the database and the thread that serves it
//! - `table_setup.rs`: creates the template's tables or compares them with existing ones
//! - `stream_retention.rs`: limits the number of stream records in the database
//! - `table_streams.rs`: reads the changes of tables for event source mappings
//! - `write_conflicts.rs`: simulates conflicts between concurrent writes for tests
//! - `proxy.rs`: the endpoint for functions; checks permissions and counts capacity units
//! - `operations.rs`: runs the operations of the DynamoDB API
//! - `error.rs`: the reasons why the tables cannot be served

mod engine;
mod error;
mod operations;
mod proxy;
mod stream_retention;
mod table_setup;
mod table_streams;
mod write_conflicts;

pub(crate) use self::engine::DynamoEngine;
pub use self::error::Error;
pub(crate) use self::table_streams::{StreamReader, StreamRecord};
