//! Emulates EventBridge rules: invokes scheduled functions at a fixed rate.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::body::Bytes;
use serde_json::{Value, json};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::activity::Activity;
use crate::aws::arn::{AWS_ACCOUNT_ID, REGION, rule_arn};
use crate::aws::time_format::rfc3339_time;
use crate::clock::Clock;
use crate::lambda::Functions;
use crate::template::Schedule;

pub(crate) struct Scheduler {
    pub function: String,
    pub schedule: Schedule,
    pub functions: Functions,
    pub clock: Clock,
    pub activity: Activity,
    /// When the function is invoked next, in milliseconds since 1970. The scheduler updates this.
    pub due_ms: Arc<AtomicU64>,
}

impl Scheduler {
    /// Invokes the function periodically until the returned future is dropped. As on AWS, the first invocation happens
    /// one period after the start. If the machine was asleep or the clock was advanced, missed invocations are not made
    /// up for.
    pub async fn run(self) {
        let Self { function, schedule, functions, clock, activity, due_ms } = self;
        let interval_ms = u64::try_from(schedule.interval.as_millis()).unwrap_or(u64::MAX);
        let mut next_ms = clock.now_ms().saturating_add(interval_ms);
        loop {
            due_ms.store(next_ms, Ordering::SeqCst);
            clock.sleep_until_ms(next_ms).await;
            let _ongoing = activity.start();
            next_ms = next_due_ms(next_ms, interval_ms, clock.now_ms());
            // A failure is already logged. The function is invoked again when it is due.
            let _ = functions.invoke(&function, payload(&schedule.name, &clock)).await;
        }
    }
}

/// Returns the time of the next invocation: one period after the current one was due, or, if that time has passed, one
/// period from now.
fn next_due_ms(due_ms: u64, interval_ms: u64, now_ms: u64) -> u64 {
    let next_ms = due_ms.saturating_add(interval_ms);
    if next_ms > now_ms { next_ms } else { now_ms.saturating_add(interval_ms) }
}

pub(crate) fn payload(name: &str, clock: &Clock) -> Bytes {
    event(name, clock.now_utc()).to_string().into()
}

fn event(name: &str, at: OffsetDateTime) -> Value {
    json!({
        "version": "0",
        "id": Uuid::now_v7(),
        "detail-type": "Scheduled Event",
        "source": "aws.events",
        "account": AWS_ACCOUNT_ID,
        "time": rfc3339_time(at),
        "region": REGION,
        "resources": [rule_arn(name)],
        "detail": {},
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_invocation_is_followed_by_a_whole_period() {
        assert_eq!(next_due_ms(60_000, 60_000, 60_005), 120_000);
        assert_eq!(next_due_ms(60_000, 60_000, 500_000), 560_000);
    }
}
