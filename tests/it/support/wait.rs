//! Waiting for a condition instead of sleeping.

use std::fmt::Debug;
use std::future::Future;
use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior, interval};

const POLL_INTERVAL: Duration = Duration::from_millis(25);

/// Limit for anything that must happen even on a busy machine. A test that checks a duration sets its own limit.
pub const WAIT_TIMEOUT: Duration = seconds(30);

/// Calls `probe` until it returns `Ok`. Panics with the last state when that takes longer than `within`.
pub async fn wait_for<T, State, Attempt>(what: &str, within: Duration, mut probe: impl FnMut() -> Attempt) -> T
where
    State: Debug,
    Attempt: Future<Output = Result<T, State>>,
{
    let deadline = Instant::now() + within;
    let mut ticks = interval(POLL_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        match probe().await {
            Ok(value) => return value,
            Err(state) if Instant::now() >= deadline => {
                panic!("not within {within:?}: {what}; last state: {state:#?}")
            }
            Err(_) => {}
        }
    }
}

pub const fn seconds(n: u64) -> Duration {
    Duration::from_secs(n)
}
