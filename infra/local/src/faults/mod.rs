//! Injects faults for tests: failing, slow and unanswered requests to tables and queues, killed function processes,
//! repeated and delayed queue messages, and wrong clocks. Without a [`FaultPlan`], each decision whether to inject a
//! fault costs one atomic read.
//!
//! # Layout
//! - [`FaultPlan`]: which faults are injected, and how often
//! - [`Faults`]: decides about each request, invocation and message, and counts the injected faults
//! - `rejection.rs`: the error responses of the services
//! - `sqs_outage.rs`, `store_latency.rs`: an outage of SQS, and the time that requests take on AWS
//! - `generator.rs`: [`Generator`], a seeded generator of random numbers

mod generator;
mod rejection;
pub(crate) mod sqs_outage;
pub(crate) mod store_latency;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::Bytes;
use axum::response::Response;
use serde::{Deserialize, Serialize};

pub use self::generator::Generator;
pub(crate) use self::rejection::{Rejection, dynamodb_rejection, event_bridge_rejection, sqs_rejection, sts_rejection};

/// How long a request that gets no response stays open. The SDK gives up earlier.
const SILENCE: Duration = Duration::from_secs(30);

/// Which faults are injected, and how often. Every rate is given per 1,000. The same seed produces the same random
/// numbers in the same order; which request, invocation or message each number decides about depends on the timing of
/// the processes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FaultPlan {
    pub seed: u64,
    pub tables: RequestFaultRates,
    pub queues: RequestFaultRates,
    /// The faults of requests to the AWS accounts of customers.
    pub customers: RequestFaultRates,
    /// The rate of invocations whose process is killed within `max_crash_delay_ms` after it has received the event,
    /// unless it has responded by then.
    pub crashes: u64,
    pub max_crash_delay_ms: u64,
    pub messages: MessageFaultRates,
    /// The maximum error of a process's clock, in either direction.
    pub max_clock_error_ms: u64,
}

/// The rates of the faults of requests to a service, per 1,000.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RequestFaultRates {
    /// The rate of requests that are rejected because of throttling. They have no effect.
    pub throttled: u64,
    /// The rate of requests that fail with an internal error. They have no effect.
    pub failed: u64,
    /// The rate of requests that are processed but get an internal error as the response.
    pub lost_answers: u64,
    /// The rate of requests that are processed but get no response before the SDK gives up.
    pub silent: u64,
    /// The rate of requests that are delayed by up to `max_delay_ms`.
    pub delayed: u64,
    pub max_delay_ms: u64,
}

/// The rates of the faults of queue messages on their way to a function, per 1,000.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MessageFaultRates {
    /// The rate of batches that are received again although the function has processed them.
    pub repeated: u64,
    /// The rate of batches that become visible again one or three seconds after they were received, even if the
    /// function is still processing them.
    pub early_visibility: u64,
    /// The rate of batches of standard queues that are delayed by up to `max_delay_ms`, so that later messages overtake
    /// them.
    pub overtaken: u64,
    pub max_delay_ms: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestFault {
    Throttle,
    Fail,
    LoseAnswer,
    Silence,
    Delay(Duration),
}

impl RequestFault {
    /// Returns the response to a request with this fault. `reject` returns the service's error response, and `handle`
    /// processes the request.
    pub async fn apply(self, reject: fn(Rejection) -> Response, handle: impl Future<Output = Response>) -> Response {
        match self {
            Self::Throttle => reject(Rejection::Throttling),
            Self::Fail => reject(Rejection::InternalError),
            Self::LoseAnswer => {
                handle.await;
                reject(Rejection::InternalError)
            }
            Self::Silence => {
                let response = handle.await;
                tokio::time::sleep(SILENCE).await;
                response
            }
            Self::Delay(delay) => {
                tokio::time::sleep(delay).await;
                handle.await
            }
        }
    }
}

/// A fault of queue messages. It applies to a whole received batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MessageFault {
    Repeat,
    EarlyVisibility { seconds: u32 },
    Delay(Duration),
}

/// An invocation that did not end, because its process was killed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KilledInvocation {
    pub function: String,
    pub event: Bytes,
}

/// Injects faults while there is a plan. Clones share the plan and the counts.
#[derive(Clone, Default)]
pub struct Faults(Arc<Inner>);

#[derive(Default)]
struct Inner {
    is_active: AtomicBool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    plan: FaultPlan,
    generator: Generator,
    counts: BTreeMap<&'static str, u64>,
    killed: Vec<KilledInvocation>,
}

impl Faults {
    /// Injects the faults of this plan from now on. With `None`, no further fault is injected.
    pub fn set_plan(&self, plan: Option<FaultPlan>) {
        self.0.is_active.store(plan.is_some(), Ordering::Relaxed);
        if let Some(plan) = plan {
            let mut state = self.state();
            state.generator = Generator::new(plan.seed);
            state.plan = plan;
        }
    }

    /// Returns the number of injected faults of each kind since the start. A process kill is counted when it is
    /// planned, even if the process responds before it.
    #[must_use]
    pub fn counts(&self) -> BTreeMap<&'static str, u64> {
        self.state().counts.clone()
    }

    /// Returns the invocations whose processes were killed since the last call. Unlike [`counts`](Self::counts), the
    /// result does not contain processes that have responded before they were to be killed.
    #[must_use]
    pub fn take_killed_invocations(&self) -> Vec<KilledInvocation> {
        std::mem::take(&mut self.state().killed)
    }

    pub(crate) fn record_killed_invocation(&self, function: &str, event: Bytes) {
        self.state().killed.push(KilledInvocation { function: function.to_owned(), event });
    }

    pub(crate) fn of_table_request(&self) -> Option<RequestFault> {
        self.choose(|state| state.request_fault(state.plan.tables, TABLE_FAULTS))
    }

    pub(crate) fn of_queue_request(&self) -> Option<RequestFault> {
        self.choose(|state| state.request_fault(state.plan.queues, QUEUE_FAULTS))
    }

    pub(crate) fn of_customer_request(&self) -> Option<RequestFault> {
        self.choose(|state| state.request_fault(state.plan.customers, CUSTOMER_FAULTS))
    }

    /// Returns how long after receiving the event an invocation's process is killed, or `None` if it is not killed.
    pub(crate) fn crash_delay(&self) -> Option<Duration> {
        self.choose(|state| {
            state
                .is_chosen(state.plan.crashes, "process kill planned")
                .then(|| state.up_to_ms(state.plan.max_crash_delay_ms))
        })
    }

    pub(crate) fn of_messages(&self, is_fifo: bool) -> Option<MessageFault> {
        self.choose(|state| {
            let MessageFaultRates { repeated, early_visibility, overtaken, max_delay_ms } = state.plan.messages;
            if state.is_chosen(repeated, "message repeated") {
                Some(MessageFault::Repeat)
            } else if state.is_chosen(early_visibility, "message visible early") {
                let seconds = if state.generator.is_chosen(500) { 1 } else { 3 };
                Some(MessageFault::EarlyVisibility { seconds })
            } else if !is_fifo && state.is_chosen(overtaken, "message overtaken") {
                Some(MessageFault::Delay(state.up_to_ms(max_delay_ms)))
            } else {
                None
            }
        })
    }

    /// Returns a new process's clock error in milliseconds, or `None` if no error is injected.
    pub(crate) fn clock_error_ms(&self) -> Option<i64> {
        self.choose(|state| {
            let max = i64::try_from(state.plan.max_clock_error_ms).ok().filter(|max| *max > 0)?;
            let error = state.generator.below(state.plan.max_clock_error_ms.saturating_mul(2) + 1);
            *state.counts.entry("process with a wrong clock").or_default() += 1;
            i64::try_from(error).ok().map(|error| error - max)
        })
    }

    fn choose<T>(&self, choice: impl FnOnce(&mut State) -> Option<T>) -> Option<T> {
        if !self.0.is_active.load(Ordering::Relaxed) {
            return None;
        }
        choice(&mut self.state())
    }

    /// Locks the state. Ignores a poisoned lock, because the worst effect of a panic is that one decision is not
    /// counted.
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The names under which request faults are counted, in the same order as in `RequestFaultRates`.
type RequestFaultNames = [&'static str; 5];

const TABLE_FAULTS: RequestFaultNames = [
    "table request throttled",
    "table request failed",
    "answer of a table lost",
    "table silent",
    "table request delayed",
];
const QUEUE_FAULTS: RequestFaultNames = [
    "queue request throttled",
    "queue request failed",
    "answer of a queue lost",
    "queue silent",
    "queue request delayed",
];
const CUSTOMER_FAULTS: RequestFaultNames = [
    "customer request throttled",
    "customer request failed",
    "answer of a customer lost",
    "customer silent",
    "customer request delayed",
];

impl State {
    fn request_fault(&mut self, rates: RequestFaultRates, names: RequestFaultNames) -> Option<RequestFault> {
        let RequestFaultRates { throttled, failed, lost_answers, silent, delayed, max_delay_ms } = rates;
        let [throttled_name, failed_name, lost_name, silent_name, delayed_name] = names;
        if self.is_chosen(throttled, throttled_name) {
            Some(RequestFault::Throttle)
        } else if self.is_chosen(failed, failed_name) {
            Some(RequestFault::Fail)
        } else if self.is_chosen(lost_answers, lost_name) {
            Some(RequestFault::LoseAnswer)
        } else if self.is_chosen(silent, silent_name) {
            Some(RequestFault::Silence)
        } else if self.is_chosen(delayed, delayed_name) {
            Some(RequestFault::Delay(self.up_to_ms(max_delay_ms)))
        } else {
            None
        }
    }

    fn is_chosen(&mut self, rate: u64, name: &'static str) -> bool {
        let is_chosen = self.generator.is_chosen(rate);
        if is_chosen {
            *self.counts.entry(name).or_default() += 1;
        }
        is_chosen
    }

    fn up_to_ms(&mut self, max_ms: u64) -> Duration {
        Duration::from_millis(self.generator.below(max_ms + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> FaultPlan {
        let requests = RequestFaultRates { throttled: 100, lost_answers: 100, ..RequestFaultRates::default() };
        let messages = MessageFaultRates { overtaken: 1_000, max_delay_ms: 5, ..MessageFaultRates::default() };
        FaultPlan { seed: 7, tables: requests, messages, max_clock_error_ms: 10, ..FaultPlan::default() }
    }

    #[test]
    fn same_plan_makes_the_same_decisions() {
        let decisions = || {
            let faults = Faults::default();
            faults.set_plan(Some(plan()));
            (0..200).map(|_| faults.of_table_request()).collect::<Vec<_>>()
        };
        assert_eq!(decisions(), decisions());
        let chosen = |fault| decisions().iter().filter(|it| **it == Some(fault)).count();
        assert!(chosen(RequestFault::Throttle) > 5 && chosen(RequestFault::LoseAnswer) > 5);
        assert_eq!(chosen(RequestFault::Fail), 0);
    }

    #[test]
    fn nothing_is_injected_without_a_plan() {
        let faults = Faults::default();
        let is_silent = || faults.of_table_request().is_none() && faults.of_messages(false).is_none();
        assert!(is_silent());
        faults.set_plan(Some(plan()));
        assert!(!is_silent());
        faults.set_plan(None);
        assert!(is_silent() && faults.crash_delay().is_none() && faults.clock_error_ms().is_none());
    }

    #[test]
    fn messages_of_fifo_queues_are_never_overtaken() {
        let faults = Faults::default();
        faults.set_plan(Some(plan()));
        assert!(matches!(faults.of_messages(false), Some(MessageFault::Delay(_))));
        assert_eq!(faults.of_messages(true), None);
        assert_eq!(faults.counts(), BTreeMap::from([("message overtaken", 1)]));
    }
}
