//! Waits for a condition instead of sleeping for a fixed time.

use std::fmt::Debug;
use std::future::Future;
use std::time::Duration;

use tokio::time::{Instant, sleep};

/// The first pause between two probes. Each pause is twice the one before, up to `MAX_POLL_INTERVAL`, because a probe
/// usually calls a function, and tests that wait nine seconds for the end of a delivery would keep the processor busy.
const MIN_POLL_INTERVAL: Duration = Duration::from_millis(10);
const MAX_POLL_INTERVAL: Duration = Duration::from_millis(250);

/// Time limit for anything that must happen even on a busy machine. A test that checks a duration sets its own limit.
pub const WAIT_TIMEOUT: Duration = seconds(30);

/// Calls `probe` until it returns `Ok`. Panics with the last state if this takes longer than `within`.
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
