//! The only place that asks what time it is.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::domain::timestamp::Timestamp;

/// Now, by the system's clock.
#[allow(clippy::disallowed_methods, reason = "this is the place")]
pub fn now() -> Timestamp {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX))
}
