//! Writes metrics to standard output in CloudWatch's embedded metric format. CloudWatch extracts them from the log, so
//! recording them takes no requests and no permissions.
//!
//! The value of a dimension is never an account, a person or an id, because CloudWatch bills each value as a separate
//! metric and because many people can read dashboards. Such details are only in the log lines.

use std::io::Write;
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::deliveries::delivery::{AttemptResult, Target};
use crate::domain::timestamp::Timestamp;
use crate::runtime::{clock, config};

const NAMESPACE: &str = "Switchboard";
/// The dimension that every metric has. It distinguishes between stacks in the same AWS account.
const STACK_DIMENSION: &str = "Stack";

struct Metric {
    name: &'static str,
    unit: &'static str,
    value: u64,
    dimensions: &'static [&'static str],
}

/// Counts a delivery attempt. `age` is the time between the entry's creation and the round's final result. `None` means
/// that another attempt follows.
pub(crate) fn count_attempt(target: Target, attempt_result: AttemptResult, age: Option<Duration>) {
    let dimensions = [("Target", target.name()), ("Outcome", attempt_result.name())];
    let count = Metric::count("Deliveries", &[STACK_DIMENSION, "Target", "Outcome"]);
    let age = age.map(|age| Metric {
        name: "DeliveryAge",
        unit: "Milliseconds",
        value: u64::try_from(age.as_millis()).unwrap_or(u64::MAX),
        dimensions: &[STACK_DIMENSION, "Target"],
    });
    write(&[Some(count), age].into_iter().flatten().collect::<Vec<_>>(), &dimensions);
}

/// Counts a chat that was handed over to the agents because the bot failed or did not react in time.
pub(crate) fn count_bot_fallback() {
    write(&[Metric::count("BotFallbacks", &[STACK_DIMENSION])], &[]);
}

/// Counts a delivery that the sweep (the scheduled search for overdue deliveries) has marked as failed. If
/// `is_handed_over` is true, also counts that the chat was handed over from the bot to the agents.
pub fn count_abandoned_delivery(entry: &TimelineEntry, is_handed_over: bool) {
    if let Some(delivery) = &entry.delivery {
        count_attempt(delivery.target, AttemptResult::Failed, Some(clock::now().since(entry.at)));
    }
    if is_handed_over {
        count_bot_fallback();
    }
}

/// Counts an e-mail. `kind` is what it contains, and `outcome` what became of it.
pub(crate) fn count_email(kind: &'static str, outcome: &'static str) {
    let dimensions = [("Kind", kind), ("Outcome", outcome)];
    write(&[Metric::count("Emails", &[STACK_DIMENSION, "Kind", "Outcome"])], &dimensions);
}

/// Records the age of a backlog: how long its oldest remaining item has been overdue.
pub(crate) fn record_backlog_age(name: &'static str, age: Duration) {
    let age =
        Metric { name: "BacklogAge", unit: "Seconds", value: age.as_secs(), dimensions: &[STACK_DIMENSION, "Backlog"] };
    write(&[age], &[("Backlog", name)]);
}

/// Counts a request that was rejected with status 429. `route` is the route's template.
pub(crate) fn count_rate_limited(route: &str) {
    write(&[Metric::count("RateLimited", &[STACK_DIMENSION, "Route"])], &[("Route", route)]);
}

impl Metric {
    fn count(name: &'static str, dimensions: &'static [&'static str]) -> Self {
        Self { name, unit: "Count", value: 1, dimensions }
    }
}

/// Writes the metrics as one line, with a single call so that concurrent log lines are not mixed into it. Errors are
/// ignored, because without standard output there is no way to report them.
fn write(metrics: &[Metric], dimensions: &[(&str, &str)]) {
    let line = format!("{}\n", metric_line(metrics, dimensions, &config::stack_name(), clock::now()));
    let _ = std::io::stdout().lock().write_all(line.as_bytes());
}

/// Returns one line in the embedded metric format. CloudWatch ignores the `level` field, which is added so that the
/// line can be filtered like any other log line.
fn metric_line(metrics: &[Metric], dimensions: &[(&str, &str)], stack: &str, now: Timestamp) -> Value {
    let directives: Vec<Value> = metrics.iter().map(directive).collect();
    let mut fields = Map::new();
    fields.insert("_aws".to_owned(), json!({ "Timestamp": now.0, "CloudWatchMetrics": directives }));
    fields.insert("level".to_owned(), json!("INFO"));
    fields.insert(STACK_DIMENSION.to_owned(), json!(stack));
    fields.extend(dimensions.iter().map(|(name, value)| ((*name).to_owned(), json!(value))));
    fields.extend(metrics.iter().map(|metric| (metric.name.to_owned(), json!(metric.value))));
    Value::Object(fields)
}

fn directive(metric: &Metric) -> Value {
    json!({
        "Namespace": NAMESPACE,
        "Dimensions": [metric.dimensions],
        "Metrics": [{ "Name": metric.name, "Unit": metric.unit }],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metric_line_has_the_embedded_metric_format() {
        let age = Metric { name: "Age", unit: "Milliseconds", value: 9, dimensions: &[STACK_DIMENSION] };
        let line = metric_line(
            &[Metric::count("Attempts", &[STACK_DIMENSION, "Target"]), age],
            &[("Target", "bot")],
            "prod",
            Timestamp(5),
        );
        let expected = json!({
            "_aws": {
                "Timestamp": 5,
                "CloudWatchMetrics": [
                    {
                        "Namespace": "Switchboard",
                        "Dimensions": [["Stack", "Target"]],
                        "Metrics": [{"Name": "Attempts", "Unit": "Count"}],
                    },
                    {
                        "Namespace": "Switchboard",
                        "Dimensions": [["Stack"]],
                        "Metrics": [{"Name": "Age", "Unit": "Milliseconds"}],
                    },
                ],
            },
            "level": "INFO",
            "Stack": "prod",
            "Target": "bot",
            "Attempts": 1,
            "Age": 9,
        });
        assert_eq!(line, expected);
    }
}
