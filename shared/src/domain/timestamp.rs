//! Points in time, as the service stores and compares them.

use std::time::Duration;

/// A point in time: whole milliseconds since the Unix epoch, UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub u64);

impl Timestamp {
    /// Whole seconds since the epoch, the unit of every `timestamp` on the wire.
    pub fn seconds(self) -> u64 {
        self.0 / 1_000
    }

    /// The point that many seconds after the epoch.
    pub fn from_seconds(seconds: u64) -> Self {
        Self(seconds.saturating_mul(1_000))
    }

    /// The point `by` later.
    pub fn after(self, by: Duration) -> Self {
        Self(self.0.saturating_add(millis(by)))
    }

    /// The point `by` earlier.
    pub fn before(self, by: Duration) -> Self {
        Self(self.0.saturating_sub(millis(by)))
    }

    /// How long ago `earlier` was; zero when it is not in the past.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
