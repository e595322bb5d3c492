//! Checks that attempts and their final results are on schedule (docs/design.md, Attempts). The limits tolerate a
//! machine on which other programs use most of the processor; benchmarks measure how precise the schedule is.

use std::time::Duration;

use crate::support::wait::seconds;

/// How late an attempt or a result may be. An attempt must start before the scheduled time of the next one, three
/// seconds later.
pub const MAX_LATENESS: Duration = Duration::from_millis(2_900);

/// How early an attempt may start. It can seem early because the test measures its time from a different moment than
/// the service does.
const MAX_EARLINESS: Duration = Duration::from_millis(300);

/// The maximum time from a message's creation until the message is shown as failed, or until a bot loses the chat.
pub const MAX_RESULT_TIME: Duration = seconds(9).saturating_add(MAX_LATENESS);

/// Checks that three attempts started 0, 3 and 6 seconds after the message was sent.
#[track_caller]
pub fn assert_attempts_on_schedule(attempt_starts: &[Duration]) {
    assert_eq!(attempt_starts.len(), 3, "{attempt_starts:?}");
    for (start, slot) in attempt_starts.iter().zip([0, 3, 6]) {
        let slot = seconds(slot);
        let window = slot.saturating_sub(MAX_EARLINESS)..=slot + MAX_LATENESS;
        assert!(window.contains(start), "{attempt_starts:?}");
    }
}

/// Checks that the final result was shown nine seconds after the message was sent, or at most `MAX_LATENESS` later.
#[track_caller]
pub fn assert_result_on_schedule(shown_after: Duration) {
    assert!((seconds(9)..=MAX_RESULT_TIME).contains(&shown_after), "shown after {shown_after:?}");
}
