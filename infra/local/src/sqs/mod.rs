//! An SQS implementation for the local host: standard and FIFO queues in one SQLite database, in a file or in memory.
//!
//! Functions see the behaviour of AWS: order within a FIFO group, at most one batch in flight per group, deduplication
//! for five minutes, delays, visibility timeouts, redrive to a dead-letter queue and retention periods. Every change is
//! committed before the response, so a queue that is stored in a file loses no message if the process is killed.
//!
//! Requests for other actions of SQS fail with `UnsupportedOperation`, for example requests that create or change
//! queues, because the template defines the queues. Messages with message attributes are rejected in the same way.
//!
//! # Layout
//! - [`Queues`] (`queues.rs`): the API for the host; counts requests by action (`request_counts.rs`)
//! - `proxy.rs`: the endpoint of the functions, which checks their permissions, and injects faults
//! - `protocol/`: serves the queues over HTTP to the AWS SDK
//! - `async_engine.rs`: the engine with a clock, a lock and long polling
//! - `engine/`: the queues' behaviour as short SQLite transactions; the current time is an argument
//! - `queue_definition.rs`, `message.rs`, `limits.rs`, `error.rs`: data types

mod async_engine;
mod engine;
mod error;
mod limits;
mod message;
mod protocol;
pub(crate) mod proxy;
mod queue_definition;
mod queues;
mod request_counts;
#[cfg(test)]
mod tests;

pub use engine::QueueDatabaseLocation;
pub use error::Error;
pub use limits::OutOfRange;
pub use message::{Message, QueueDepth, QueueMessageToSend, SentMessage};
pub(crate) use protocol::SERVICE;
pub use queue_definition::{DefinitionError, QueueDefinition, RedrivePolicy};
pub use queues::Queues;
