//! The clock of a host that a test advances: queue delays, visibility timeouts and the timeouts of deliveries end as
//! soon as the test says so.
//!
//! The real time that passes during a test is added to the clock, and may be long on a busy machine. A test that checks
//! that something is not late therefore uses the time that was [skipped](VirtualTime::skipped_between).

use std::time::{Duration, Instant};

use local::Host;

use crate::support::test_receiver::TestReceiver;
use crate::support::wait::WAIT_TIMEOUT;

/// How early something may seem to be, because the test takes the time at a different moment than the service does.
const MAX_EARLINESS: Duration = Duration::from_millis(300);

pub struct VirtualTime<'h>(pub &'h Host);

impl VirtualTime<'_> {
    /// Advances the clock while the functions may be running.
    pub fn advance(&self, duration: Duration) {
        self.0.clock().advance_by(duration).unwrap();
    }

    /// Waits until the functions have handled all due messages, and advances the clock to the time of the next message.
    /// Returns by how much, or `None` if no message is left.
    pub async fn advance_to_next_message(&self) -> Option<Duration> {
        self.0.advance_to_next_message().await.unwrap()
    }

    /// Lets every attempt happen that is still to come.
    pub async fn run_until_queues_are_empty(&self) {
        while self.advance_to_next_message().await.is_some() {}
    }

    /// Waits for each of the requests with these numbers (the first is 1) and lets it time out after three seconds.
    pub async fn time_out_requests(&self, receiver: &TestReceiver, numbers: impl IntoIterator<Item = usize>) {
        for number in numbers {
            receiver.wait_for_requests(number, WAIT_TIMEOUT).await;
            self.advance(Duration::from_secs(3));
        }
    }

    /// Returns the time on the host's clock between two moments.
    pub fn between(&self, start: Instant, end: Instant) -> Duration {
        end.duration_since(start) + self.skipped_between(start, end)
    }

    /// Returns by how much the clock has been advanced between two moments.
    pub fn skipped_between(&self, start: Instant, end: Instant) -> Duration {
        self.0.clock().advance_between(start, end)
    }

    /// Checks that `end` is not earlier than `expected` after `start`, and that no more time than that was skipped:
    /// only the work of the machine can have made it later.
    #[track_caller]
    pub fn assert_after(&self, expected: Duration, start: Instant, end: Instant) {
        let (elapsed, skipped) = (self.between(start, end), self.skipped_between(start, end));
        assert!(elapsed + MAX_EARLINESS >= expected && skipped <= expected, "{elapsed:?}, {skipped:?} of it skipped");
    }

    /// Checks that attempts were made immediately and then every three seconds.
    #[track_caller]
    pub fn assert_every_three_seconds(&self, start: Instant, attempts: &[Instant]) {
        for (expected, attempt) in (0..).step_by(3).zip(attempts) {
            self.assert_after(Duration::from_secs(expected), start, *attempt);
        }
    }
}
