//! Waiting for a condition instead of sleeping.

use std::fmt::Debug;
use std::future::Future;
use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior, interval};

const POLL: Duration = Duration::from_millis(25);

/// For what has to happen, however busy the machine is. A test that is about time says its own limit.
pub const PATIENCE: Duration = seconds(30);

/// Asks until the answer is `Ok`, and fails with the last state seen when that takes too long.
pub async fn wait_for<T, State, Answer>(what: &str, within: Duration, mut ask: impl FnMut() -> Answer) -> T
where
    State: Debug,
    Answer: Future<Output = Result<T, State>>,
{
    let deadline = Instant::now() + within;
    let mut ticks = interval(POLL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        match ask().await {
            Ok(found) => return found,
            Err(state) if Instant::now() >= deadline => {
                panic!("not within {within:?}: {what}; last seen: {state:#?}")
            }
            Err(_) => {}
        }
    }
}

pub const fn seconds(n: u64) -> Duration {
    Duration::from_secs(n)
}
