//! The only module that reads the system clock.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::domain::timestamp::Timestamp;

#[allow(clippy::disallowed_methods, reason = "the only place that reads the system clock")]
pub fn now() -> Timestamp {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX))
}
