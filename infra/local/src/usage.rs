//! What the functions used of the services, because that is what AWS charges for.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::extract::State;
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

/// Counts by function. A clone counts into the same numbers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Meter(Arc<Mutex<BTreeMap<String, Counts>>>);

/// What one function used.
#[derive(Debug, Default, Serialize)]
struct Counts {
    invocations: u64,
    /// Invocations that failed, by an error of the function, its time-out or its end.
    errors: u64,
    /// Sum over all invocations, cold starts included.
    #[serde(rename = "duration_ms", serialize_with = "milliseconds")]
    duration: Duration,
    /// Requests by `table/operation`.
    dynamodb: BTreeMap<String, u64>,
    /// Capacity units; a request that failed reports none.
    read_units: f64,
    write_units: f64,
    /// Requests by `queue/action`.
    sqs: BTreeMap<String, u64>,
}

/// Capacity units of one DynamoDB request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Units {
    Read(f64),
    Write(f64),
}

impl Meter {
    pub fn invocation(&self, function: &str, took: Duration, failed: bool) {
        self.count(function, |counts| {
            counts.invocations += 1;
            counts.errors += u64::from(failed);
            counts.duration += took;
        });
    }

    pub fn dynamodb(&self, function: &str, table: &str, operation: &str) {
        self.count(function, |counts| {
            *counts.dynamodb.entry(format!("{table}/{operation}")).or_default() += 1;
        });
    }

    pub fn units(&self, function: &str, units: Units) {
        self.count(function, |counts| match units {
            Units::Read(units) => counts.read_units += units,
            Units::Write(units) => counts.write_units += units,
        });
    }

    pub fn sqs(&self, function: &str, queue: &str, action: &str) {
        self.count(function, |counts| {
            *counts.sqs.entry(format!("{queue}/{action}")).or_default() += 1;
        });
    }

    pub fn reset(&self) {
        self.counts().clear();
    }

    pub fn snapshot(&self) -> Value {
        json!(*self.counts())
    }

    /// `GET /_local/usage` and `POST /_local/usage/reset`.
    pub fn router(self) -> Router {
        Router::new()
            .route("/_local/usage", get(async |State(meter): State<Self>| Json(meter.snapshot())))
            .route("/_local/usage/reset", post(async |State(meter): State<Self>| meter.reset()))
            .with_state(self)
    }

    fn count(&self, function: &str, change: impl FnOnce(&mut Counts)) {
        let mut counts = self.counts();
        match counts.get_mut(function) {
            Some(counts) => change(counts),
            None => change(counts.entry(function.to_owned()).or_default()),
        }
    }

    fn counts(&self) -> MutexGuard<'_, BTreeMap<String, Counts>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn milliseconds<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u128(duration.as_millis())
}
