//! Emulates Lambda's event source mappings: reads batches from queues and streams and invokes functions with them.
//!
//! # Layout
//! - `queue_consumer.rs`: receives messages from a queue and deletes those that the function processed
//! - `stream_consumer.rs`: reads a table's stream and distributes its records to lanes
//! - `stream_lane.rs`: invokes the function with the records of a lane, in order, and retries failed batches
//! - `read_retry.rs`: logs failed reads of queues and streams, and waits before the next read
//! - `dropped_records.rs`: logs records that the function never processed
//! - `batch_response.rs`: reads which items of a batch failed

mod batch_response;
mod dropped_records;
mod queue_consumer;
mod read_retry;
mod stream_consumer;
mod stream_lane;

pub(crate) use self::queue_consumer::QueueConsumer;
pub(crate) use self::stream_consumer::StreamConsumer;
