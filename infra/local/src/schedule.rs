//! Emulates EventBridge rules: invokes scheduled functions at a fixed rate.

use axum::body::Bytes;
use serde_json::{Value, json};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::aws::arn::{AWS_ACCOUNT_ID, REGION, rule_arn};
use crate::aws::time_format::rfc3339_time;
use crate::clock::Clock;
use crate::lambda::Functions;
use crate::template::Schedule;

/// Invokes the function periodically until the returned future is dropped. As on AWS, the first invocation happens one
/// period after the start. If the machine was asleep or the clock was advanced, missed invocations are not made up for.
pub(crate) async fn run(function: String, schedule: Schedule, functions: Functions, clock: Clock) {
    loop {
        clock.sleep(schedule.interval).await;
        // A failure is already logged. The function is invoked again after the next interval.
        let _ = functions.invoke(&function, payload(&schedule.name, &clock)).await;
    }
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
