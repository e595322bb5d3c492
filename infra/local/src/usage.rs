//! Counts what AWS would charge for, by function: invocations and their duration, DynamoDB capacity units, SQS
//! requests, and the messages and connection time of WebSockets. Also counts the round trips to the tables, which take
//! time.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::extract::State;
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

const SOCKET_MESSAGE_UNIT_BYTES: usize = 32 * 1024;

/// A function's concurrent requests are considered complete once no request has arrived for this long.
const CONCURRENT_REQUEST_GAP: Duration = Duration::from_millis(20);

/// Clones share the counts.
#[derive(Debug, Clone, Default)]
pub(crate) struct UsageMeter {
    counts: Arc<Mutex<BTreeMap<String, FunctionUsage>>>,
    separates_round_trips: Arc<AtomicBool>,
}

#[derive(Debug, Default, Serialize)]
struct FunctionUsage {
    invocations: u64,
    /// The number of failed invocations, for example because of an error of the function, a timeout or a crash.
    errors: u64,
    /// The total duration of all invocations, including cold starts.
    #[serde(rename = "duration_ms", serialize_with = "as_milliseconds")]
    duration: Duration,
    /// The number of requests by table and operation, with keys such as `Chats/GetItem`. A request to several tables
    /// counts once for each of them.
    dynamodb: BTreeMap<String, u64>,
    /// The capacity units of reads. The units of failed reads and writes are not included, because failed requests
    /// report none.
    read_units: f64,
    write_units: f64,
    /// Sequential round trips to the tables. Concurrent requests count as one round trip. The count is exact only while
    /// `separates_round_trips` is set.
    store_round_trips: u64,
    #[serde(skip)]
    store_requests: u64,
    /// The number of requests by queue and action, with keys such as `ChannelRetryQueue/SendMessage`.
    sqs: BTreeMap<String, u64>,
    /// The number of WebSocket messages that invoked the function or were posted by it. Each 32 KB of a message, or
    /// part thereof, counts as one message.
    socket_messages: u64,
    /// The total time for which connections accepted by the function were open. An open connection is not included yet.
    #[serde(rename = "connection_minutes", serialize_with = "as_minutes")]
    connection_time: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum CapacityUnits {
    Read(f64),
    Write(f64),
}

impl UsageMeter {
    pub fn record_invocation(&self, function: &str, duration: Duration, has_failed: bool) {
        self.update(function, |counts| {
            counts.invocations += 1;
            counts.errors += u64::from(has_failed);
            counts.duration += duration;
        });
    }

    pub fn count_dynamodb_request(&self, function: &str, table: &str, operation: &str) {
        self.update(function, |counts| {
            *counts.dynamodb.entry(format!("{table}/{operation}")).or_default() += 1;
        });
    }

    /// Returns the number of the round trip to which the request belongs.
    pub fn start_store_request(&self, function: &str) -> u64 {
        let mut round_trip = 0;
        self.update(function, |counts| {
            counts.store_requests += 1;
            round_trip = counts.store_round_trips + 1;
        });
        round_trip
    }

    /// Ends a request to a table. Requests that start after this one has ended belong to the next round trip. While
    /// `separates_round_trips` is set, this function first waits until no more concurrent requests arrive.
    pub async fn end_store_request(&self, function: &str, round_trip: u64) {
        let started = || self.lock().get(function).map_or(0, |counts| counts.store_requests);
        while self.separates_round_trips.load(Ordering::Relaxed) {
            let before = started();
            tokio::time::sleep(CONCURRENT_REQUEST_GAP).await;
            if started() == before {
                break;
            }
        }
        self.update(function, |counts| counts.store_round_trips = counts.store_round_trips.max(round_trip));
    }

    /// Sets whether responses from the tables are delayed until all concurrent requests have arrived.
    pub fn separate_round_trips(&self, is_separated: bool) {
        self.separates_round_trips.store(is_separated, Ordering::Relaxed);
    }

    pub fn add_capacity_units(&self, function: &str, units: CapacityUnits) {
        self.update(function, |counts| match units {
            CapacityUnits::Read(units) => counts.read_units += units,
            CapacityUnits::Write(units) => counts.write_units += units,
        });
    }

    pub fn count_sqs_request(&self, function: &str, queue: &str, action: &str) {
        self.update(function, |counts| {
            *counts.sqs.entry(format!("{queue}/{action}")).or_default() += 1;
        });
    }

    pub fn count_socket_message(&self, function: &str, bytes: usize) {
        let units = bytes.div_ceil(SOCKET_MESSAGE_UNIT_BYTES).max(1) as u64;
        self.update(function, |counts| counts.socket_messages += units);
    }

    pub fn add_connection_time(&self, function: &str, duration: Duration) {
        self.update(function, |counts| counts.connection_time += duration);
    }

    pub fn reset(&self) {
        self.lock().clear();
    }

    pub fn snapshot(&self) -> Value {
        json!(*self.lock())
    }

    pub fn router(self) -> Router {
        Router::new()
            .route("/_local/usage", get(async |State(meter): State<Self>| Json(meter.snapshot())))
            .route("/_local/usage/reset", post(async |State(meter): State<Self>| meter.reset()))
            .with_state(self)
    }

    fn update(&self, function: &str, change: impl FnOnce(&mut FunctionUsage)) {
        let mut usage = self.lock();
        match usage.get_mut(function) {
            Some(counts) => change(counts),
            None => change(usage.entry(function.to_owned()).or_default()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, FunctionUsage>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn as_milliseconds<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u128(duration.as_millis())
}

fn as_minutes<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(duration.as_secs_f64() / 60.0)
}
