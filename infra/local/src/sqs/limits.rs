//! SQS limits ("Amazon SQS quotas" in its developer guide).

/// The maximum size of a message body, and of all message bodies in a batch combined.
pub(super) const MAX_MESSAGE_BYTES: usize = 1024 * 1024;
pub(super) const MAX_BATCH_ENTRIES: usize = 10;
/// The time after a message during which messages with the same deduplication id are duplicates (FIFO queues only).
pub(super) const DEDUPLICATION_WINDOW_MS: u64 = 5 * 60 * 1000;

pub(super) const DELAY_SECONDS: ParameterRange = ParameterRange::new("DelaySeconds", 0, 900);
pub(super) const VISIBILITY_TIMEOUT_SECONDS: ParameterRange = ParameterRange::new("VisibilityTimeout", 0, 43_200);
pub(super) const RETENTION_SECONDS: ParameterRange = ParameterRange::new("MessageRetentionPeriod", 60, 1_209_600);
pub(super) const MAX_RECEIVE_COUNT: ParameterRange = ParameterRange::new("maxReceiveCount", 1, 1_000);
pub(super) const WAIT_TIME_SECONDS: ParameterRange = ParameterRange::new("WaitTimeSeconds", 0, 20);
pub(super) const MAX_NUMBER_OF_MESSAGES: ParameterRange = ParameterRange::new("MaxNumberOfMessages", 1, 10);
pub(super) const MAX_RESULTS_RANGE: ParameterRange = ParameterRange::new("MaxResults", 1, 1_000);

/// The allowed values of a parameter, from `min` to `max` inclusive.
#[derive(Debug)]
pub(super) struct ParameterRange {
    parameter: &'static str,
    min: u32,
    max: u32,
}

impl ParameterRange {
    const fn new(parameter: &'static str, min: u32, max: u32) -> Self {
        Self { parameter, min, max }
    }

    pub(super) fn check(&self, value: impl Into<i64>) -> Result<u32, OutOfRange> {
        let value = value.into();
        match u32::try_from(value) {
            Ok(number) if (self.min..=self.max).contains(&number) => Ok(number),
            Ok(_) | Err(_) => Err(OutOfRange { parameter: self.parameter, value, min: self.min, max: self.max }),
        }
    }

    pub(super) fn check_optional(&self, value: Option<i64>) -> Result<Option<u32>, OutOfRange> {
        value.map(|value| self.check(value)).transpose()
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("Value {value} for parameter {parameter} is invalid. Reason: Must be between {min} and {max}.")]
pub struct OutOfRange {
    pub parameter: &'static str,
    pub value: i64,
    pub min: u32,
    pub max: u32,
}
