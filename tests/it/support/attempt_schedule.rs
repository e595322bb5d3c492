//! Checks the attempts of a delivery, and that they and their final result are on schedule (docs/design.md, Attempts).
//! The limits tolerate a machine on which other programs use most of the processor; benchmarks measure how precise the
//! schedule is.

use std::time::Duration;

use serde_json::Value;

use crate::support::api_client::number;
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

/// Checks that the delivery failed after three attempts, each of which has this `status`, a duration below `max_ms` and
/// an error. `status` is `None` if there was no response.
#[track_caller]
pub fn assert_failed_after_three_attempts(name: &str, delivery: &Value, status: Option<u16>, max_ms: u64) {
    assert_eq!(delivery["state"], "failed", "{name}: {delivery}");
    assert!(delivery["error"]["message"].is_string(), "{name}: {delivery}");
    let attempts = delivery["attempts"].as_array().unwrap();
    assert_eq!(attempts.len(), 3, "{name}: {attempts:#?}");
    for attempt in attempts {
        assert!(number(&attempt["ms"]) < max_ms && number(&attempt["at"]) > 0, "{name}: {attempt}");
        assert_eq!(attempt["status"].as_u64(), status.map(u64::from), "{name}: {attempt}");
        assert!(attempt["error"].as_str().is_some_and(|text| !text.is_empty()), "{name}: {attempt}");
    }
}

/// Checks that the final result was shown nine seconds after the message was sent, or at most `MAX_LATENESS` later.
#[track_caller]
pub fn assert_result_on_schedule(shown_after: Duration) {
    assert!((seconds(9)..=MAX_RESULT_TIME).contains(&shown_after), "shown after {shown_after:?}");
}
