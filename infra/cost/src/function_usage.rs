//! Computes the usage of each function from the local host's usage counters.

use std::collections::BTreeMap;
use std::ops::{Add, AddAssign, Mul, Sub};

use serde::Deserialize;
use serde_json::Value;

pub type UsageByFunction = BTreeMap<String, Usage>;

/// The usage of a function, a scenario or a month. The numbers may be fractional, for example when they are averages.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Usage {
    /// The number of invocations through the HTTP API or the WebSocket API.
    pub requests: f64,
    /// The number of invocations of the `deliver-` functions that send requests to receivers. For the costs, each of
    /// them is assumed to wait for a response.
    pub deliveries: f64,
    pub invocations: f64,
    /// The number of DynamoDB read requests.
    pub reads: f64,
    /// The number of DynamoDB write requests. A transaction counts as one request.
    pub writes: f64,
    /// The number of sequential round trips to the tables. Concurrent requests count as one round trip.
    pub round_trips: f64,
    pub read_units: f64,
    pub write_units: f64,
    pub fifo_queue_requests: f64,
    pub retry_queue_requests: f64,
    /// The number of invocations of functions that write to the Chats table. On AWS, each of them usually causes one
    /// invocation of `PUSH_FUNCTION`, because Lambda polls a stream only four times a second. The local host invokes
    /// `PUSH_FUNCTION` more often, because it passes on each change immediately.
    pub pushed_changes: f64,
    /// The number of invocations of `PUSH_FUNCTION`. They are not included in `invocations`, because they write no log
    /// and are shorter than other invocations.
    pub pushes: f64,
    /// The number of WebSocket messages. Each 32 KB of a message counts as one.
    pub socket_messages: f64,
}

/// The table streams invoke this function.
pub const PUSH_FUNCTION: &str = "deliver-push";

/// One function's counters in the response to `GET /_local/usage`.
#[derive(Deserialize)]
struct UsageCounters {
    invocations: u32,
    /// The number of requests by table and operation, with keys such as `Chats/GetItem`.
    dynamodb: BTreeMap<String, u32>,
    read_units: f64,
    write_units: f64,
    #[serde(default)]
    store_round_trips: u32,
    /// The number of requests by queue and action, with keys such as `ChannelRetryQueue/SendMessage`.
    sqs: BTreeMap<String, u32>,
    #[serde(default)]
    socket_messages: u32,
}

/// Parses the response to `GET /_local/usage`.
pub fn usage_by_function(response: Value) -> Result<UsageByFunction, serde_json::Error> {
    let counters: BTreeMap<String, UsageCounters> = serde_json::from_value(response)?;
    Ok(counters.into_iter().map(|(function, counters)| (function.clone(), Usage::of(&function, &counters))).collect())
}

pub fn total(usage: &UsageByFunction) -> Usage {
    let mut total = Usage::default();
    usage.values().for_each(|usage| total += *usage);
    total
}

/// Returns whether a schedule invokes the function. The first word of a function's name shows what invokes it: a queue
/// or a stream (`deliver`), a schedule (`schedule`), the WebSocket API (`socket`) or the HTTP API (all other words).
pub fn is_scheduled(function: &str) -> bool {
    function.starts_with("schedule-")
}

impl Usage {
    fn of(function: &str, counters: &UsageCounters) -> Self {
        let invocations = f64::from(counters.invocations);
        let pushes = if function == PUSH_FUNCTION { invocations } else { 0.0 };
        let invocations = invocations - pushes;
        let delivers = function.starts_with("deliver-");
        let changes_chats = counters.dynamodb.keys().any(|name| name.starts_with("Chats/") && !is_read(name));
        let is_fifo = |name: &str| name.split('/').next().is_some_and(|queue| queue.ends_with(".fifo"));
        Self {
            requests: if delivers || is_scheduled(function) { 0.0 } else { invocations },
            deliveries: if delivers { invocations } else { 0.0 },
            invocations,
            reads: sum(&counters.dynamodb, is_read),
            writes: sum(&counters.dynamodb, |name| !is_read(name)),
            round_trips: f64::from(counters.store_round_trips),
            pushed_changes: if changes_chats { invocations } else { 0.0 },
            pushes,
            socket_messages: f64::from(counters.socket_messages),
            read_units: counters.read_units,
            write_units: counters.write_units,
            fifo_queue_requests: sum(&counters.sqs, is_fifo),
            retry_queue_requests: sum(&counters.sqs, |name| !is_fifo(name)),
        }
    }
}

fn is_read(name: &str) -> bool {
    ["/GetItem", "/BatchGetItem", "/Query"].iter().any(|read| name.ends_with(read))
}

fn sum(counts: &BTreeMap<String, u32>, matches: impl Fn(&str) -> bool) -> f64 {
    counts.iter().filter(|(name, _)| matches(name)).map(|(_, count)| f64::from(*count)).fold(0.0, f64::add)
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.requests += other.requests;
        self.deliveries += other.deliveries;
        self.invocations += other.invocations;
        self.reads += other.reads;
        self.writes += other.writes;
        self.round_trips += other.round_trips;
        self.read_units += other.read_units;
        self.write_units += other.write_units;
        self.fifo_queue_requests += other.fifo_queue_requests;
        self.retry_queue_requests += other.retry_queue_requests;
        self.pushed_changes += other.pushed_changes;
        self.pushes += other.pushes;
        self.socket_messages += other.socket_messages;
    }
}

impl Mul<f64> for Usage {
    type Output = Self;

    fn mul(self, times: f64) -> Self {
        Self {
            requests: self.requests * times,
            deliveries: self.deliveries * times,
            invocations: self.invocations * times,
            reads: self.reads * times,
            writes: self.writes * times,
            round_trips: self.round_trips * times,
            read_units: self.read_units * times,
            write_units: self.write_units * times,
            fifo_queue_requests: self.fifo_queue_requests * times,
            retry_queue_requests: self.retry_queue_requests * times,
            pushed_changes: self.pushed_changes * times,
            pushes: self.pushes * times,
            socket_messages: self.socket_messages * times,
        }
    }
}

impl Add for Usage {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        self += other;
        self
    }
}

impl Sub for Usage {
    type Output = Self;

    fn sub(mut self, other: Self) -> Self {
        self += other * -1.0;
        self
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use serde_json::json;

    use super::*;

    #[test]
    fn usage_is_parsed_by_function() {
        let usage = usage_by_function(json!({
            "agent-send-message": {
                "invocations": 2, "errors": 0, "duration_ms": 9, "read_units": 1.5, "write_units": 3.0,
                "dynamodb": {"T/GetItem": 1, "T/BatchGetItem": 1, "Chats/Query": 1, "Chats/UpdateItem": 4},
                "sqs": {"Q.fifo/SendMessage": 1},
            },
            "deliver-channel": {
                "invocations": 1, "errors": 0, "duration_ms": 9, "read_units": 0.0, "write_units": 0.0,
                "dynamodb": {}, "sqs": {"Q.fifo/ReceiveMessage": 1, "R/SendMessage": 5},
            },
            "deliver-push": {
                "invocations": 3, "errors": 0, "duration_ms": 9, "read_units": 1.5, "write_units": 0.0,
                "dynamodb": {"Connections/Query": 3}, "sqs": {}, "socket_messages": 2,
            },
            "schedule-requeue-deliveries": {
                "invocations": 1, "errors": 0, "duration_ms": 9, "read_units": 0.0, "write_units": 0.0,
                "dynamodb": {}, "sqs": {},
            },
        }));
        let usage = usage.unwrap();
        let expected = Usage { requests: 2.0, invocations: 2.0, reads: 3.0, writes: 4.0, ..Usage::default() };
        let expected = Usage { pushed_changes: 2.0, ..expected };
        assert_eq!(
            usage["agent-send-message"],
            Usage { read_units: 1.5, write_units: 3.0, fifo_queue_requests: 1.0, ..expected }
        );
        let expected = Usage {
            deliveries: 1.0,
            invocations: 1.0,
            fifo_queue_requests: 1.0,
            retry_queue_requests: 5.0,
            ..Usage::default()
        };
        assert_eq!(usage["deliver-channel"], expected);
        let expected = Usage { pushes: 3.0, reads: 3.0, read_units: 1.5, socket_messages: 2.0, ..Usage::default() };
        assert_eq!(usage["deliver-push"], expected);
        assert_eq!(usage["schedule-requeue-deliveries"], Usage { invocations: 1.0, ..Usage::default() });
        let (all, requests, deliveries) = (total(&usage), 2.0, 1.0);
        assert_eq!(
            (all.invocations, all.requests, all.deliveries, all.fifo_queue_requests),
            (4.0, requests, deliveries, 2.0)
        );
        assert_eq!(all - all, Usage::default());
    }
}
