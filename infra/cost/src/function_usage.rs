//! What functions used, as the local host's meter has it.

use std::collections::BTreeMap;
use std::ops::{Add, AddAssign, Mul, Sub};

use serde::Deserialize;
use serde_json::Value;

/// Uses by function.
pub type Bill = BTreeMap<String, Counts>;

/// What was used, or the share of it that one of something has.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Counts {
    /// Invocations that came through the HTTP API.
    pub requests: f64,
    /// Invocations that call a receiver and wait for it.
    pub deliveries: f64,
    /// All invocations.
    pub invocations: f64,
    /// Requests to DynamoDB that read.
    pub reads: f64,
    /// Requests to DynamoDB that write; a transaction is one.
    pub writes: f64,
    /// Read units.
    pub read_units: f64,
    /// Write units.
    pub write_units: f64,
    /// Requests to FIFO queues.
    pub fifo: f64,
    /// Requests to the retry queues.
    pub fair: f64,
}

/// A function in the answer of `GET /_local/usage`.
#[derive(Deserialize)]
struct Metered {
    invocations: u32,
    /// By `table/operation`.
    dynamodb: BTreeMap<String, u32>,
    read_units: f64,
    write_units: f64,
    /// By `queue/action`.
    sqs: BTreeMap<String, u32>,
}

/// Reads the answer of `GET /_local/usage`.
///
/// # Errors
/// It is not the meter's.
pub fn bill(usage: Value) -> Result<Bill, serde_json::Error> {
    let metered: BTreeMap<String, Metered> = serde_json::from_value(usage)?;
    Ok(metered.into_iter().map(|(function, metered)| (function.clone(), Counts::of(&function, &metered))).collect())
}

/// What all functions of a bill used.
pub fn total(bill: &Bill) -> Counts {
    let mut total = Counts::default();
    bill.values().for_each(|counts| total += *counts);
    total
}

/// A function's name begins with its area: queues call the area `deliver`, clocks `schedule`, the HTTP API all others.
pub fn is_scheduled(function: &str) -> bool {
    function.starts_with("schedule-")
}

impl Counts {
    fn of(function: &str, metered: &Metered) -> Self {
        let invocations = f64::from(metered.invocations);
        let delivers = function.starts_with("deliver-");
        let is_read = |name: &str| ["/GetItem", "/BatchGetItem", "/Query"].iter().any(|read| name.ends_with(read));
        let is_fifo = |name: &str| name.split('/').next().is_some_and(|queue| queue.ends_with(".fifo"));
        Self {
            requests: if delivers || is_scheduled(function) { 0.0 } else { invocations },
            deliveries: if delivers { invocations } else { 0.0 },
            invocations,
            reads: sum(&metered.dynamodb, is_read),
            writes: sum(&metered.dynamodb, |name| !is_read(name)),
            read_units: metered.read_units,
            write_units: metered.write_units,
            fifo: sum(&metered.sqs, is_fifo),
            fair: sum(&metered.sqs, |name| !is_fifo(name)),
        }
    }
}

fn sum(counts: &BTreeMap<String, u32>, is_one: impl Fn(&str) -> bool) -> f64 {
    counts.iter().filter(|(name, _)| is_one(name)).map(|(_, count)| f64::from(*count)).fold(0.0, f64::add)
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.requests += other.requests;
        self.deliveries += other.deliveries;
        self.invocations += other.invocations;
        self.reads += other.reads;
        self.writes += other.writes;
        self.read_units += other.read_units;
        self.write_units += other.write_units;
        self.fifo += other.fifo;
        self.fair += other.fair;
    }
}

impl Mul<f64> for Counts {
    type Output = Self;

    fn mul(self, times: f64) -> Self {
        Self {
            requests: self.requests * times,
            deliveries: self.deliveries * times,
            invocations: self.invocations * times,
            reads: self.reads * times,
            writes: self.writes * times,
            read_units: self.read_units * times,
            write_units: self.write_units * times,
            fifo: self.fifo * times,
            fair: self.fair * times,
        }
    }
}

impl Add for Counts {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        self += other;
        self
    }
}

impl Sub for Counts {
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
    fn a_bill_is_read_from_the_meter() {
        let bill = bill(json!({
            "agent-message": {
                "invocations": 2, "errors": 0, "duration_ms": 9, "read_units": 1.5, "write_units": 3.0,
                "dynamodb": {"T/GetItem": 1, "T/BatchGetItem": 1, "T/Query": 1, "T/UpdateItem": 4},
                "sqs": {"Q.fifo/SendMessage": 1},
            },
            "deliver-channel": {
                "invocations": 1, "errors": 0, "duration_ms": 9, "read_units": 0.0, "write_units": 0.0,
                "dynamodb": {}, "sqs": {"Q.fifo/ReceiveMessage": 1, "R/SendMessage": 5},
            },
            "schedule-sweep": {
                "invocations": 1, "errors": 0, "duration_ms": 9, "read_units": 0.0, "write_units": 0.0,
                "dynamodb": {}, "sqs": {},
            },
        }));
        let bill = bill.unwrap();
        let expected = Counts { requests: 2.0, invocations: 2.0, reads: 3.0, writes: 4.0, ..Counts::default() };
        assert_eq!(bill["agent-message"], Counts { read_units: 1.5, write_units: 3.0, fifo: 1.0, ..expected });
        let expected = Counts { deliveries: 1.0, invocations: 1.0, fifo: 1.0, fair: 5.0, ..Counts::default() };
        assert_eq!(bill["deliver-channel"], expected);
        assert_eq!(bill["schedule-sweep"], Counts { invocations: 1.0, ..Counts::default() });
        let (all, requests, deliveries) = (total(&bill), 2.0, 1.0);
        assert_eq!((all.invocations, all.requests, all.deliveries, all.fifo), (4.0, requests, deliveries, 2.0));
        assert_eq!(all - all, Counts::default());
    }
}
