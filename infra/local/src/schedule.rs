//! Emulates EventBridge rules: invokes scheduled functions at a fixed rate.

use axum::body::Bytes;
use serde_json::{Value, json};
use time::OffsetDateTime;
use tokio::time::{Instant, MissedTickBehavior};
use uuid::Uuid;

use crate::aws::arn::{AWS_ACCOUNT_ID, REGION, rule_arn};
use crate::aws::time_format::rfc3339_time;
use crate::lambda::Functions;
use crate::template::Schedule;

/// Invokes the function periodically until the returned future is dropped. As on AWS, the first invocation happens one
/// period after the start.
pub(crate) async fn run(function: String, schedule: Schedule, functions: Functions) {
    let mut ticks = tokio::time::interval_at(Instant::now() + schedule.interval, schedule.interval);
    // If the machine was asleep, the late tick fires once, and the next tick follows a full interval later. The default
    // behaviour would make up for all missed ticks in a burst.
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        // A failure is already logged. The next tick invokes the function again.
        let _ = functions.invoke(&function, payload(&schedule.name)).await;
    }
}

pub(crate) fn payload(name: &str) -> Bytes {
    event(name, OffsetDateTime::now_utc()).to_string().into()
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
