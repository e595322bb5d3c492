//! Emulates DynamoDB with the `dynoxide-rs` crate, which runs in this process on one SQLite file.
//!
//! # Layout
//! - `engine.rs`: the database and the thread that serves it
//! - `table_setup.rs`: creates the template's tables or compares them with existing ones
//! - `write_conflicts.rs`: simulates conflicts between concurrent writes for tests
//! - `proxy.rs`: the endpoint for functions; checks permissions and counts capacity units
//! - `error.rs`: the reasons why the tables cannot be served

mod engine;
mod error;
mod proxy;
mod table_setup;
mod write_conflicts;

pub(crate) use self::engine::DynamoEngine;
pub use self::error::Error;
