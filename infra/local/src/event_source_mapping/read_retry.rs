//! Logs failed reads of queues and streams, and waits before the next read.

use std::time::Duration;

use tokio::time::{Instant, sleep};

/// The pause after a failed read. It prevents a busy loop if the disk fails.
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// The minimum time between two log lines while reads keep failing.
const LOG_INTERVAL: Duration = Duration::from_secs(60);

#[derive(Default)]
pub(super) struct ReadRetry {
    last_logged: Option<Instant>,
}

impl ReadRetry {
    /// Waits for a second until a failed read can be tried again. Logs the error of the first failed read, and of
    /// further ones at most once a minute.
    pub async fn wait(&mut self, log_error: impl FnOnce()) {
        if self.last_logged.is_none_or(|at| at.elapsed() >= LOG_INTERVAL) {
            log_error();
            self.last_logged = Some(Instant::now());
        }
        sleep(RETRY_DELAY).await;
    }
}
