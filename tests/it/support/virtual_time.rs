//! The clock of a host that stands still until a test advances it. Queue delays, visibility timeouts, schedules and the
//! timeouts of deliveries end as soon as the test says so, and at exactly the expected time, however slow the machine
//! is.

use std::time::{Duration, Instant};

use local::Host;

use crate::support::test_receiver::{ReceivedRequest, TestReceiver};
use crate::support::wait::{WAIT_TIMEOUT, seconds};

/// The timeout of an attempt, and the time between two attempts.
pub const ATTEMPT_SPACING: Duration = seconds(3);

pub struct VirtualTime<'h>(pub &'h Host);

impl VirtualTime<'_> {
    /// Advances the clock while the functions may be running.
    pub fn advance(&self, duration: Duration) {
        self.0.clock().advance_by(duration).unwrap();
    }

    /// Waits until the functions have handled all due messages.
    pub async fn wait_until_idle(&self) {
        self.0.wait_until_idle().await.unwrap();
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

    /// Lets every attempt happen, and advances the clock to the time at which a failed delivery is shown as such: when
    /// a third attempt would have timed out.
    pub async fn run_until_failure_is_shown(&self) {
        self.run_until_queues_are_empty().await;
        self.advance(ATTEMPT_SPACING);
    }

    /// Waits for each of the requests with these numbers (the first is 1) and lets it time out.
    pub async fn time_out_requests(&self, receiver: &TestReceiver, numbers: impl IntoIterator<Item = usize>) {
        for number in numbers {
            receiver.wait_for_requests(number, WAIT_TIMEOUT).await;
            self.advance(ATTEMPT_SPACING);
        }
    }

    /// Returns by how much the clock has been advanced between two moments.
    pub fn between(&self, start: Instant, end: Instant) -> Duration {
        self.0.clock().advance_between(start, end)
    }

    /// Checks that the requests were made immediately and then every three seconds.
    #[track_caller]
    pub fn assert_every_three_seconds(&self, start: Instant, requests: &[ReceivedRequest]) {
        let made: Vec<Duration> = requests.iter().map(|request| self.between(start, request.at)).collect();
        let expected: Vec<Duration> = (0..).map(|n| ATTEMPT_SPACING * n).take(requests.len()).collect();
        assert_eq!(made, expected);
    }
}
