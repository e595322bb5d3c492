//! The clock of a host: the system's clock, plus the time by which it has been advanced. A clock that has been stopped
//! moves only when it is advanced. Queue delays, visibility timeouts, schedules and the limits on WebSockets follow the
//! clock. So do the functions of a development build, which read it from a file.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
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
    /// The time at which the clock was stopped, in milliseconds since 1970.
    stopped_at_ms: OnceLock<u64>,
    /// Each advance with its real time.
    steps: Mutex<Vec<(Instant, Duration)>>,
    /// Contains `+` and the advance, or `=` and the time of a stopped clock, in milliseconds. The number of digits is
    /// fixed, so that a reader never sees a part of the number.
    file: NamedTempFile,
}

impl Clock {
    /// # Errors
    /// Fails if the file for the functions cannot be created.
    pub fn new() -> io::Result<Self> {
        let file = NamedTempFile::new()?;
        write_file(file.as_file(), '+', 0)?;
        let advance = watch::Sender::new(Duration::ZERO);
        Ok(Self(Arc::new(Inner { advance, stopped_at_ms: OnceLock::new(), steps: Mutex::default(), file })))
    }

    /// Stops the clock. From now on, only [`advance_by`](Self::advance_by) moves it.
    ///
    /// # Errors
    /// Fails if the functions cannot be told.
    pub fn stop(&self) -> io::Result<()> {
        let (now_ms, advance) = (self.now_ms(), self.advance());
        self.0.stopped_at_ms.get_or_init(|| now_ms - milliseconds(advance));
        self.write(advance)
    }

    /// Returns the number of milliseconds since 1970.
    #[must_use]
    pub fn now_ms(&self) -> u64 {
        let since_1970 = || milliseconds(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default());
        self.0.stopped_at_ms.get().copied().unwrap_or_else(since_1970) + milliseconds(self.advance())
    }

    #[must_use]
    pub(crate) fn now_utc(&self) -> OffsetDateTime {
        OffsetDateTime::UNIX_EPOCH + Duration::from_millis(self.now_ms())
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
            result = self.write(later);
            *advance = later;
        });
        result
    }

    fn write(&self, advance: Duration) -> io::Result<()> {
        let (kind, base_ms) = self.0.stopped_at_ms.get().map_or(('+', 0), |stopped_at_ms| ('=', *stopped_at_ms));
        write_file(self.0.file.as_file(), kind, base_ms + milliseconds(advance))
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
        self.sleep_until_ms(self.now_ms().saturating_add(milliseconds(duration))).await;
    }

    /// Returns the path of the file from which the functions read the clock.
    pub(crate) fn file(&self) -> &Path {
        self.0.file.path()
    }
}

fn write_file(file: &File, kind: char, number: u64) -> io::Result<()> {
    file.write_all_at(format!("{kind}{number:020}").as_bytes(), 0)
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
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
        assert_eq!(std::fs::read_to_string(clock.file()).unwrap(), "+00000000000003600000");
    }

    #[test]
    fn stopped_clock_moves_only_when_it_is_advanced() {
        let clock = Clock::new().unwrap();
        clock.advance_by(Duration::from_secs(1)).unwrap();
        clock.stop().unwrap();
        let stopped_at_ms = clock.now_ms();
        let system_time = SystemTime::now();
        while system_time.elapsed().unwrap() < Duration::from_millis(2) {}
        assert_eq!(clock.now_ms(), stopped_at_ms);
        clock.advance_by(Duration::from_secs(3)).unwrap();
        assert_eq!(clock.now_ms(), stopped_at_ms + 3_000);
        assert_eq!(std::fs::read_to_string(clock.file()).unwrap(), format!("={:020}", stopped_at_ms + 3_000));
    }
}
