//! Helpers for waiting until a condition holds instead of sleeping for a fixed time.

use std::fmt::Debug;
use std::future::Future;
use std::time::Duration;

use tokio::time::{Instant, sleep};

/// The pause after the first probe. Each later pause is twice as long as the one before, up to `MAX_POLL_INTERVAL`.
/// Most probes call a function, and some tests wait nine seconds for a delivery to end, so probing at a fixed short
/// interval would keep the processor busy.
const MIN_POLL_INTERVAL: Duration = Duration::from_millis(10);
const MAX_POLL_INTERVAL: Duration = Duration::from_millis(250);

/// The usual time limit, long enough even on a busy machine. A test that checks a duration uses its own limit.
pub const WAIT_TIMEOUT: Duration = seconds(90);

/// Calls `probe` until it returns `Ok`, and returns the value. If this takes longer than `within`, panics with the last
/// state that `probe` returned as `Err`.
pub async fn wait_for<T, State, Attempt>(what: &str, within: Duration, mut probe: impl FnMut() -> Attempt) -> T
where
    State: Debug,
    Attempt: Future<Output = Result<T, State>>,
{
    let deadline = Instant::now() + within;
    let mut interval = MIN_POLL_INTERVAL;
    loop {
        match probe().await {
            Ok(value) => return value,
            Err(state) if Instant::now() >= deadline => {
                panic!("not within {within:?}: {what}; last state: {state:#?}")
            }
            Err(_) => {}
        }
        sleep(interval).await;
        interval = MAX_POLL_INTERVAL.min(interval * 2);
    }
}

pub const fn seconds(n: u64) -> Duration {
    Duration::from_secs(n)
}
