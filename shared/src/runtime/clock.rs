//! The only module of the library that reads the system clock. Third-party crates also read it, for the times of log
//! lines and for UUIDs.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::domain::timestamp::Timestamp;

#[allow(clippy::disallowed_methods, reason = "the only place that reads the system clock")]
pub fn now() -> Timestamp {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let milliseconds = u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX);
    Timestamp(milliseconds.saturating_add_signed(error_ms()))
}

/// Returns the clock error, in milliseconds, that the fault tests set for this process. Deployed functions have no such
/// error, because they are built without debug assertions.
fn error_ms() -> i64 {
    #[cfg(debug_assertions)]
    {
        static ERROR_MS: std::sync::LazyLock<i64> = std::sync::LazyLock::new(crate::runtime::config::clock_error_ms);
        *ERROR_MS
    }
    #[cfg(not(debug_assertions))]
    0
}
