//! Reads events of type `SQS`: event source mappings for queues.

use std::time::Duration;

use super::error::Error;
use super::evaluated_value::EvaluatedValue;
use super::queue::queue_name_from_arn;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueMapping {
    pub queue: String,
    pub batch_size: u32,
    /// How long the mapping waits for more messages when a batch is not full.
    pub batching_window: Duration,
    /// Whether the function reports which messages in a batch failed (`ReportBatchItemFailures`).
    pub reports_partial_failures: bool,
    /// The maximum number of concurrent invocations for this queue. With `None`, the host uses its own default.
    pub max_concurrency: Option<u32>,
}

pub(super) fn read(properties: &EvaluatedValue<'_>) -> Result<QueueMapping, Error> {
    let queue = queue_name_from_arn(&properties.require("Queue")?)?;
    // A receive from a FIFO queue returns at most ten messages, and Lambda does not combine several receives into one
    // batch.
    let max_batch_size = if queue.ends_with(".fifo") { 10 } else { 10_000 };
    let concurrency = properties.get_or_empty("ScalingConfig")?.get("MaximumConcurrency")?;
    Ok(QueueMapping {
        batch_size: properties.number_or("BatchSize", 1..=max_batch_size, 10)?,
        batching_window: batching_window(&queue, properties)?,
        reports_partial_failures: reports_partial_failures(properties)?,
        max_concurrency: concurrency.map(|limit| limit.number(2..=1000)).transpose()?,
        queue,
    })
}

fn batching_window(queue: &str, properties: &EvaluatedValue<'_>) -> Result<Duration, Error> {
    let max_seconds = if queue.ends_with(".fifo") { 0 } else { 300 };
    let seconds = properties.number_or("MaximumBatchingWindowInSeconds", 0..=max_seconds, 0)?;
    Ok(Duration::from_secs(seconds.into()))
}

pub(super) fn reports_partial_failures(properties: &EvaluatedValue<'_>) -> Result<bool, Error> {
    let Some(response_types) = properties.get("FunctionResponseTypes")? else {
        return Ok(false);
    };
    for response_type in response_types.items()? {
        if response_type.text()? != "ReportBatchItemFailures" {
            return Err(response_type.unexpected_value("ReportBatchItemFailures"));
        }
    }
    Ok(true)
}
