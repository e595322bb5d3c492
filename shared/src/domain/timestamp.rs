//! Points in time, stored with a resolution of one millisecond.

use std::time::Duration;

/// A Unix time in whole milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub u64);

impl Timestamp {
    /// Returns the Unix time in whole seconds, which is the unit of every `timestamp` that the APIs return.
    pub fn seconds(self) -> u64 {
        self.0 / 1_000
    }

    pub fn from_seconds(seconds: u64) -> Self {
        Self(seconds.saturating_mul(1_000))
    }

    /// Returns the time in UTC in the format of RFC 3339.
    pub fn rfc3339(self) -> String {
        let moment = i64::try_from(self.0).ok().and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
        moment.unwrap_or(jiff::Timestamp::MAX).to_string()
    }

    pub fn plus(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(millis(duration)))
    }

    /// Returns the time `duration` before this one, but no earlier than the Unix epoch.
    pub fn minus(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(millis(duration)))
    }

    /// Returns the time that has passed since `earlier`, or zero if `earlier` is later than this time.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
