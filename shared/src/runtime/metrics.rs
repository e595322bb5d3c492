//! Metrics: lines of CloudWatch's embedded metric format on standard output, from which CloudWatch makes the numbers
//! by itself; no request and no permission is needed.
//!
//! A dimension never holds an account, a person or an id: every value of one is a metric of its own that is paid for,
//! and dashboards are looked at by many. What happened to whom is in the log lines beside these.

use std::io::Write;
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::domain::delivery::{AttemptResult, Target};
use crate::domain::entry::Entry;
use crate::domain::timestamp::Timestamp;
use crate::runtime::{clock, config};

/// Whose metrics they are.
const NAMESPACE: &str = "Switchboard";
/// The dimension that every metric has, so that two stacks of one AWS account do not add up.
const STACK: &str = "Stack";

/// One number of a line, under some of the line's dimensions.
struct Metric {
    name: &'static str,
    unit: &'static str,
    value: u64,
    by: &'static [&'static str],
}

/// Counts a try of a delivery. Once there is a verdict also its age: from the making of the entry to the verdict.
pub fn delivery(target: Target, ending: AttemptResult, age: Option<Duration>) {
    let dimensions = [("Target", target.name()), ("Outcome", ending.name())];
    let count = Metric::count("Deliveries", &[STACK, "Target", "Outcome"]);
    let age = age.map(|age| Metric {
        name: "DeliveryAge",
        unit: "Milliseconds",
        value: u64::try_from(age.as_millis()).unwrap_or(u64::MAX),
        by: &[STACK, "Target"],
    });
    write(&[Some(count), age].into_iter().flatten().collect::<Vec<_>>(), &dimensions);
}

/// Counts a chat that a bot lost to the agents, because it did not take or did not answer a message.
pub fn bot_fallback() {
    write(&[Metric::count("BotFallbacks", &[STACK])], &[]);
}

/// Counts a delivery that the sweep had to give up, and the chat that a bot lost with it.
pub fn given_up(entry: &Entry, is_handed_over: bool) {
    if let Some(lost) = &entry.delivery {
        delivery(lost.target, AttemptResult::Failed, Some(clock::now().since(entry.at)));
    }
    if is_handed_over {
        bot_fallback();
    }
}

/// Tells how old the oldest item of a backlog is that a scheduled run left.
pub fn backlog(name: &'static str, age: Duration) {
    let age = Metric { name: "BacklogAge", unit: "Seconds", value: age.as_secs(), by: &[STACK, "Backlog"] };
    write(&[age], &[("Backlog", name)]);
}

/// Counts a request that was answered with 429, by its route's template.
pub fn rate_limited(route: &str) {
    write(&[Metric::count("RateLimited", &[STACK, "Route"])], &[("Route", route)]);
}

impl Metric {
    fn count(name: &'static str, by: &'static [&'static str]) -> Self {
        Self { name, unit: "Count", value: 1, by }
    }
}

/// One write a line, as the log does it. Nobody is left to tell when standard output is closed.
fn write(metrics: &[Metric], dimensions: &[(&str, &str)]) {
    let line = format!("{}\n", line(metrics, dimensions, &config::stack(), clock::now()));
    let _ = std::io::stdout().lock().write_all(line.as_bytes());
}

/// A line. Its level is for whoever filters lines by it; CloudWatch reads what `_aws` names.
fn line(metrics: &[Metric], dimensions: &[(&str, &str)], stack: &str, now: Timestamp) -> Value {
    let directives: Vec<Value> = metrics.iter().map(directive).collect();
    let mut fields = Map::new();
    fields.insert("_aws".to_owned(), json!({ "Timestamp": now.0, "CloudWatchMetrics": directives }));
    fields.insert("level".to_owned(), json!("INFO"));
    fields.insert(STACK.to_owned(), json!(stack));
    fields.extend(dimensions.iter().map(|(name, value)| ((*name).to_owned(), json!(value))));
    fields.extend(metrics.iter().map(|metric| (metric.name.to_owned(), json!(metric.value))));
    Value::Object(fields)
}

fn directive(metric: &Metric) -> Value {
    json!({
        "Namespace": NAMESPACE,
        "Dimensions": [metric.by],
        "Metrics": [{ "Name": metric.name, "Unit": metric.unit }],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_the_shape_that_cloudwatch_reads() {
        let age = Metric { name: "Age", unit: "Milliseconds", value: 9, by: &[STACK] };
        let line = line(&[Metric::count("Tries", &[STACK, "Target"]), age], &[("Target", "bot")], "prod", Timestamp(5));
        let expected = json!({
            "_aws": {
                "Timestamp": 5,
                "CloudWatchMetrics": [
                    {
                        "Namespace": "Switchboard",
                        "Dimensions": [["Stack", "Target"]],
                        "Metrics": [{"Name": "Tries", "Unit": "Count"}],
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
            "Tries": 1,
            "Age": 9,
        });
        assert_eq!(line, expected);
    }
}
