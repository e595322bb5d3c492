//! The only module of the library that reads the system clock. Third-party crates also read it, for the times of log
//! lines and for UUIDs.
//!
//! In development builds, the time follows the clock of the local host, which tests advance.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::domain::timestamp::Timestamp;

#[allow(clippy::disallowed_methods, reason = "the only place that reads the system clock")]
pub fn now() -> Timestamp {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let milliseconds = u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX);
    #[cfg(debug_assertions)]
    let milliseconds = local_host::now_ms(milliseconds);
    Timestamp(milliseconds)
}

/// Returns the result of the future, or `None` if the future takes longer than `limit`.
pub(crate) async fn timeout<T>(limit: Duration, future: impl Future<Output = T>) -> Option<T> {
    #[cfg(debug_assertions)]
    tokio::select! {
        biased;
        result = future => Some(result),
        () = local_host::sleep(limit) => None,
    }
    #[cfg(not(debug_assertions))]
    tokio::time::timeout(limit, future).await.ok()
}

pub(crate) async fn sleep(duration: Duration) {
    timeout(duration, std::future::pending::<()>()).await;
}

#[cfg(debug_assertions)]
mod local_host {
    use std::fs;
    use std::path::PathBuf;
    use std::sync::LazyLock;
    use std::time::Duration;

    use crate::runtime::config;

    /// How often a sleeping process looks whether the host's clock was advanced.
    const POLL_INTERVAL: Duration = Duration::from_millis(20);

    /// The clock error that the fault tests set for this process.
    static ERROR_MS: LazyLock<i64> = LazyLock::new(config::clock_error_ms);

    static CLOCK_FILE: LazyLock<Option<PathBuf>> = LazyLock::new(config::clock_file);

    /// Returns the time of the host's clock, plus this process's clock error.
    pub fn now_ms(system_ms: u64) -> u64 {
        let host_ms = || {
            let content = fs::read_to_string(CLOCK_FILE.as_ref()?).ok()?;
            match content.split_at_checked(1)? {
                ("=", stopped_ms) => stopped_ms.parse().ok(),
                (_, advance_ms) => system_ms.checked_add(advance_ms.parse().ok()?),
            }
        };
        host_ms().unwrap_or(system_ms).saturating_add_signed(*ERROR_MS)
    }

    #[allow(clippy::disallowed_methods, reason = "the clock may be advanced while this process waits for a response")]
    pub async fn sleep(duration: Duration) {
        let due = super::now().plus(duration);
        loop {
            let remaining = due.since(super::now());
            if remaining.is_zero() {
                return;
            }
            tokio::time::sleep(remaining.min(POLL_INTERVAL)).await;
        }
    }
}
