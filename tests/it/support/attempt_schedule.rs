//! Checks the attempts of a delivery that failed.

use std::time::Duration;

use serde_json::Value;

use crate::support::api_client::number;
use crate::support::wait::seconds;

/// Checks that the delivery failed after three attempts, each of which has this `status`, a duration of at most three
/// seconds and an error. `status` is `None` if there was no response.
#[track_caller]
pub fn assert_failed_after_three_attempts(name: &str, delivery: &Value, status: Option<u16>) {
    assert_eq!(delivery["state"], "failed", "{name}: {delivery}");
    assert!(delivery["error"]["message"].is_string(), "{name}: {delivery}");
    let attempts = delivery["attempts"].as_array().unwrap();
    assert_eq!(attempts.len(), 3, "{name}: {attempts:#?}");
    for attempt in attempts {
        assert!(attempt["ms"].is_u64() && number(&attempt["at"]) > 0, "{name}: {attempt}");
        assert_eq!(attempt["status"].as_u64(), status.map(u64::from), "{name}: {attempt}");
        assert!(attempt["error"].as_str().is_some_and(|text| !text.is_empty()), "{name}: {attempt}");
    }
}

/// Checks that the attempts of a delivery in real time are about three seconds apart, and that the failure was shown
/// after nine seconds at the earliest. Both may be later on a busy machine.
#[track_caller]
pub fn assert_not_early(delivery: &Value, shown_after: Duration) {
    let starts_ms: Vec<u64> = delivery["attempts"].as_array().unwrap().iter().map(|it| number(&it["at"])).collect();
    // An attempt may be half a second early, because queues delay by whole seconds.
    assert!(starts_ms.windows(2).all(|pair| pair[1] - pair[0] >= 2_500), "{starts_ms:?}");
    assert!(shown_after >= seconds(9), "shown after {shown_after:?}");
}
