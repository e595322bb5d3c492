//! Points in time with the resolution that is stored: milliseconds.

use std::time::Duration;

/// A point in time: whole milliseconds since the Unix epoch, UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub u64);

impl Timestamp {
    /// Whole seconds since the Unix epoch, the unit of every `timestamp` in the APIs.
    pub fn seconds(self) -> u64 {
        self.0 / 1_000
    }

    pub fn from_seconds(seconds: u64) -> Self {
        Self(seconds.saturating_mul(1_000))
    }

    /// This time plus a duration.
    pub fn plus(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(millis(duration)))
    }

    /// This time minus a duration, at the earliest the epoch.
    pub fn minus(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(millis(duration)))
    }

    /// The time that has passed since `earlier`; zero when `earlier` is in the future.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
