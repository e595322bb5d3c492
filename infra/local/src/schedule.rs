//! Plays EventBridge: calls functions at a fixed rate.

use axum::body::Bytes;
use serde_json::{Value, json};
use time::OffsetDateTime;
use tokio::time::{Instant, MissedTickBehavior};
use uuid::Uuid;

use crate::clock::iso_time;
use crate::identity::{ACCOUNT, REGION, rule_arn};
use crate::lambda::Functions;
use crate::template::Schedule;

/// Runs until it is dropped. The first call comes one period after the start, as on AWS.
pub(crate) async fn run(function: String, schedule: Schedule, functions: Functions) {
    let mut ticks = tokio::time::interval_at(Instant::now() + schedule.every, schedule.every);
    // After the machine slept, one call is enough.
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        // The pool logs what failed; the next call comes anyway.
        let _ = functions.invoke(&function, payload(&schedule.name)).await;
    }
}

/// The event of the schedule, now.
pub(crate) fn payload(name: &str) -> Bytes {
    event(name, OffsetDateTime::now_utc()).to_string().into()
}

fn event(name: &str, at: OffsetDateTime) -> Value {
    json!({
        "version": "0",
        "id": Uuid::now_v7(),
        "detail-type": "Scheduled Event",
        "source": "aws.events",
        "account": ACCOUNT,
        "time": iso_time(at),
        "region": REGION,
        "resources": [rule_arn(name)],
        "detail": {},
    })
}
