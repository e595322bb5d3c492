//! Reads events of type `DynamoDB`: event source mappings for the streams of tables.

use std::ops::RangeInclusive;
use std::time::Duration;

use serde_json::Value;

use super::error::{Error, ErrorKind};
use super::evaluated_value::EvaluatedValue;
use super::queue_mapping::reports_partial_failures;
use crate::aws::arn::table_stream_arn;
use crate::filter_pattern::FilterPattern;

/// The maximum age of the records of a mapping that does not limit the age. On AWS, a stream stores its records for
/// this time.
const STREAM_RETENTION: Duration = Duration::from_hours(24);

/// An event source mapping for the stream of a table. It starts with the first change after the start of the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamMapping {
    pub table: String,
    pub batch_size: usize,
    /// How long the mapping waits for more records when a batch is not full.
    pub batching_window: Duration,
    /// The number of lanes (`ParallelizationFactor`), which invoke the function concurrently. Records with the same
    /// partition key are always in the same lane.
    pub lanes: u32,
    pub max_record_age: Duration,
    /// How many times a failed batch is retried. `None` means that it is retried until its records are too old.
    pub max_retries: Option<u32>,
    /// Whether a failed batch is split in two before it is retried (`BisectBatchOnFunctionError`).
    pub bisects_failed_batches: bool,
    /// Whether the function reports the first failed record of a batch (`ReportBatchItemFailures`).
    pub reports_partial_failures: bool,
    /// The function receives the records that match at least one pattern. Without patterns, it receives all records.
    pub filters: Vec<FilterPattern>,
}

impl StreamMapping {
    pub(crate) fn selects(&self, record: &Value) -> bool {
        self.filters.is_empty() || self.filters.iter().any(|filter| filter.matches(record))
    }
}

pub(super) fn read(properties: &EvaluatedValue<'_>) -> Result<StreamMapping, Error> {
    let start = properties.require("StartingPosition")?;
    if start.text()? != "LATEST" {
        return Err(start.unexpected_value("LATEST"));
    }
    Ok(StreamMapping {
        table: table_from_stream_arn(&properties.require("Stream")?)?,
        batch_size: properties.number_or("BatchSize", 1..=10_000, 100)? as usize,
        batching_window: seconds(properties.number_or("MaximumBatchingWindowInSeconds", 0..=300, 0)?),
        lanes: properties.number_or("ParallelizationFactor", 1..=10, 1)?,
        max_record_age: limit(properties, "MaximumRecordAgeInSeconds", 60..=604_800)?.map_or(STREAM_RETENTION, seconds),
        max_retries: limit(properties, "MaximumRetryAttempts", 0..=10_000)?,
        bisects_failed_batches: properties.boolean_or("BisectBatchOnFunctionError", false)?,
        reports_partial_failures: reports_partial_failures(properties)?,
        filters: filters(properties)?,
    })
}

fn seconds(count: u32) -> Duration {
    Duration::from_secs(count.into())
}

fn table_from_stream_arn(arn: &EvaluatedValue<'_>) -> Result<String, Error> {
    let text = arn.text()?;
    let table = text.rsplit_once("/stream/").and_then(|(table, _)| table.rsplit_once('/'));
    match table {
        Some((_, table)) if table_stream_arn(table) == text && arn.scope().has_stream(table) => Ok(table.to_owned()),
        _ => Err(arn.error(ErrorKind::UnknownStream(text))),
    }
}

/// Returns `None` if the limit is absent or -1, which stands for no limit.
fn limit(properties: &EvaluatedValue<'_>, key: &str, allowed: RangeInclusive<u32>) -> Result<Option<u32>, Error> {
    match properties.get(key)? {
        Some(value) if value.text()? == "-1" => Ok(None),
        Some(value) => value.number(allowed).map(Some),
        None => Ok(None),
    }
}

fn filters(properties: &EvaluatedValue<'_>) -> Result<Vec<FilterPattern>, Error> {
    let Some(filters) = properties.get_or_empty("FilterCriteria")?.get("Filters")? else {
        return Ok(Vec::new());
    };
    let pattern = |filter: &EvaluatedValue<'_>| {
        let pattern = filter.require("Pattern")?;
        FilterPattern::parse(&pattern.text()?).map_err(|error| pattern.error(error.into()))
    };
    filters.items()?.iter().map(pattern).collect()
}
