//! The numbers of SQS ("Amazon SQS quotas" in its developer guide).

/// The largest body of a message, and of all messages of one batch together.
pub(super) const MAX_MESSAGE_BYTES: usize = 1024 * 1024;
/// The most entries in a batch.
pub(super) const MAX_BATCH_ENTRIES: usize = 10;
/// How long FIFO queues remember a deduplication id.
pub(super) const DEDUPLICATION_WINDOW_MS: u64 = 5 * 60 * 1000;

pub(super) const DELAY_SECONDS: Limit = Limit::new("DelaySeconds", 0, 900);
pub(super) const VISIBILITY_SECONDS: Limit = Limit::new("VisibilityTimeout", 0, 43_200);
pub(super) const RETENTION_SECONDS: Limit = Limit::new("MessageRetentionPeriod", 60, 1_209_600);
pub(super) const MAX_RECEIVES: Limit = Limit::new("maxReceiveCount", 1, 1_000);
pub(super) const WAIT_SECONDS: Limit = Limit::new("WaitTimeSeconds", 0, 20);
pub(super) const RECEIVED_AT_ONCE: Limit = Limit::new("MaxNumberOfMessages", 1, 10);
pub(super) const LISTED_QUEUES: Limit = Limit::new("MaxResults", 1, 1_000);

/// The range of a parameter, both ends allowed.
#[derive(Debug)]
pub(super) struct Limit {
    parameter: &'static str,
    min: u32,
    max: u32,
}

impl Limit {
    const fn new(parameter: &'static str, min: u32, max: u32) -> Self {
        Self { parameter, min, max }
    }

    /// The value, if it is in the range.
    pub(super) fn check(&self, value: impl Into<i64>) -> Result<u32, OutOfRange> {
        let value = value.into();
        match u32::try_from(value) {
            Ok(number) if (self.min..=self.max).contains(&number) => Ok(number),
            Ok(_) | Err(_) => Err(OutOfRange { parameter: self.parameter, value, min: self.min, max: self.max }),
        }
    }

    /// The same for a parameter that may be missing.
    pub(super) fn check_optional(&self, value: Option<i64>) -> Result<Option<u32>, OutOfRange> {
        value.map(|given| self.check(given)).transpose()
    }
}

/// A number outside the limits of SQS.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("Value {value} for parameter {parameter} is invalid. Reason: Must be between {min} and {max}.")]
pub struct OutOfRange {
    /// The parameter, as the API spells it.
    pub parameter: &'static str,
    /// What was given.
    pub value: i64,
    /// The smallest value allowed.
    pub min: u32,
    /// The largest value allowed.
    pub max: u32,
}
