//! The clock of a host: the system's clock, plus the time by which it has been advanced. Queue delays, visibility
//! timeouts, schedules and the limits on WebSockets follow it. So do the functions of a development build, which read
//! the advance from a file.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use tempfile::NamedTempFile;
use time::OffsetDateTime;
use tokio::sync::watch;

/// Clones share the clock.
#[derive(Debug, Clone)]
pub struct Clock(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    advance: watch::Sender<Duration>,
    /// Each advance with its real time.
    steps: Mutex<Vec<(Instant, Duration)>>,
    /// Contains the advance in milliseconds, with a fixed number of digits so that a reader never sees a part of it.
    file: NamedTempFile,
}

impl Clock {
    /// # Errors
    /// Fails if the file for the functions cannot be created.
    pub fn new() -> io::Result<Self> {
        let file = NamedTempFile::new()?;
        write_advance(file.as_file(), Duration::ZERO)?;
        Ok(Self(Arc::new(Inner { advance: watch::Sender::new(Duration::ZERO), steps: Mutex::default(), file })))
    }

    /// Returns the number of milliseconds since 1970.
    #[must_use]
    pub fn now_ms(&self) -> u64 {
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default() + self.advance();
        u64::try_from(since_1970.as_millis()).unwrap_or(u64::MAX)
    }

    #[must_use]
    pub(crate) fn now_utc(&self) -> OffsetDateTime {
        OffsetDateTime::now_utc() + self.advance()
    }

    /// Returns the total time by which the clock has been advanced.
    #[must_use]
    pub fn advance(&self) -> Duration {
        *self.0.advance.borrow()
    }

    /// Advances the clock. Everything that becomes due by this happens at once, in no particular order.
    ///
    /// # Errors
    /// Fails if the functions cannot be told.
    pub fn advance_by(&self, duration: Duration) -> io::Result<()> {
        let mut result = Ok(());
        self.0.advance.send_modify(|advance| {
            self.steps().push((Instant::now(), duration));
            let later = *advance + duration;
            // The functions must not be behind the queues, or they would handle a message before it is due.
            result = write_advance(self.0.file.as_file(), later);
            *advance = later;
        });
        result
    }

    /// Returns by how much the clock has been advanced between two moments of real time.
    #[must_use]
    pub fn advance_between(&self, start: Instant, end: Instant) -> Duration {
        self.steps().iter().filter(|(at, _)| (start..end).contains(at)).map(|(_, duration)| *duration).sum()
    }

    fn steps(&self) -> MutexGuard<'_, Vec<(Instant, Duration)>> {
        self.0.steps.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the given number of milliseconds since 1970.
    pub async fn sleep_until_ms(&self, due_ms: u64) {
        let mut advance = self.0.advance.subscribe();
        loop {
            let remaining_ms = due_ms.saturating_sub(self.now_ms());
            if remaining_ms == 0 {
                return;
            }
            tokio::select! {
                () = tokio::time::sleep(Duration::from_millis(remaining_ms)) => {}
                // This cannot fail, because `self` holds the sender.
                _ = advance.changed() => {}
            }
        }
    }

    pub(crate) async fn sleep(&self, duration: Duration) {
        let duration_ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        self.sleep_until_ms(self.now_ms().saturating_add(duration_ms)).await;
    }

    /// Returns the path of the file from which the functions read the advance.
    pub(crate) fn file(&self) -> &Path {
        self.0.file.path()
    }
}

fn write_advance(file: &File, advance: Duration) -> io::Result<()> {
    file.write_all_at(format!("{:020}", advance.as_millis()).as_bytes(), 0)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn advance_ends_a_sleep_and_reaches_the_file() {
        let clock = Clock::new().unwrap();
        let sleeper = tokio::spawn({
            let clock = clock.clone();
            async move { clock.sleep(Duration::from_secs(3_600)).await }
        });
        tokio::task::yield_now().await;
        let before = clock.now_ms();
        clock.advance_by(Duration::from_secs(1_800)).unwrap();
        tokio::task::yield_now().await;
        assert!(!sleeper.is_finished());
        clock.advance_by(Duration::from_secs(1_800)).unwrap();
        sleeper.await.unwrap();
        assert!(clock.now_ms() >= before + 3_600_000);
        assert_eq!(std::fs::read_to_string(clock.file()).unwrap(), "00000000000003600000");
    }
}
