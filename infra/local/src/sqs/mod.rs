//! A small SQS for the local host: standard and FIFO queues in one SQLite file.
//!
//! What a function can see of SQS is as on AWS: order within a FIFO group, one run of a group in
//! flight, five minutes of deduplication, delays, visibility, redrive to a dead-letter queue,
//! retention. Every change is committed before it is answered, so killing the process loses
//! nothing.
//!
//! What only an operator of AWS would miss is left out and answered with `UnsupportedOperation`:
//! queues come from the template and cannot be made or altered by a call, and messages carry no
//! attributes.
//!
//! # Layout
//! - [`Queues`] (`queues.rs`): the handle the host holds; counts what AWS would charge for (`usage.rs`)
//! - `protocol/`: the same queues over HTTP, as the official SDK speaks to them
//! - `service.rs`: the engine with a clock, a lock, and waiting receivers
//! - `engine/`: the rules, as short transactions; the time is an argument everywhere
//! - `definition.rs`, `message.rs`, `limits.rs`, `error.rs`: the vocabulary

mod definition;
mod engine;
mod error;
mod limits;
mod message;
mod protocol;
mod queues;
mod service;
#[cfg(test)]
mod tests;
mod usage;

pub use definition::{DeadLetter, DefinitionError, QueueDefinition};
pub use engine::Storage;
pub use error::Error;
pub use limits::OutOfRange;
pub use message::{Depth, Message, Outgoing, SentMessage};
pub(crate) use protocol::SERVICE;
pub use queues::Queues;
