//! Tests of injected faults. The tests of faults in queue messages are in `queues.rs`.

use local::faults::{FaultPlan, RequestFaultRates};
use serde_json::{Value, json};

use crate::probe_host::ProbeHost;

/// The rate per 1,000 at which every request or invocation is affected.
const ALWAYS: u64 = 1_000;

#[tokio::test]
async fn rejected_request_has_no_effect_and_lost_answer_hides_the_effect() {
    let none = RequestFaultRates::default();
    for (rates, stored_items) in [
        (RequestFaultRates { throttled: ALWAYS, ..none }, 0),
        (RequestFaultRates { failed: ALWAYS, ..none }, 0),
        (RequestFaultRates { lost_answers: ALWAYS, ..none }, 1),
    ] {
        let host = ProbeHost::start().await;
        host.faults().set_plan(Some(FaultPlan { tables: rates, ..FaultPlan::default() }));
        let result = host.invoke("probe", json!({"do": "tables"})).await.unwrap();
        assert_eq!(result, json!({"first": false, "refused": false}), "{rates:?}");
        host.faults().set_plan(None);
        let found = host.invoke("probe", json!({"do": "query", "index": "listing"})).await.unwrap();
        assert_eq!(found, json!(stored_items), "{rates:?}");
    }
}

#[tokio::test]
async fn queue_requests_fail_as_planned() {
    let host = ProbeHost::start().await;
    let send = json!({"do": "send", "body": "job"});
    let queues = RequestFaultRates { failed: ALWAYS, ..RequestFaultRates::default() };
    host.faults().set_plan(Some(FaultPlan { queues, ..FaultPlan::default() }));
    assert!(host.invoke("probe", send.clone()).await.is_err());
    assert!(host.faults().counts()["queue request failed"] > 0);
    host.faults().set_plan(None);
    assert!(host.invoke("probe", send).await.is_ok());
}

#[tokio::test]
async fn planned_kill_ends_an_invocation() {
    let host = ProbeHost::start().await;
    host.faults().set_plan(Some(FaultPlan { crashes: ALWAYS, max_crash_delay_ms: 5, ..FaultPlan::default() }));
    let killed = host.invoke("probe", json!({"do": "sleep", "ms": 60_000})).await;
    assert!(killed.is_err());
    let functions = host.faults().take_killed_invocations().into_iter().map(|killed| killed.function);
    assert_eq!(functions.collect::<Vec<_>>(), ["probe"]);
    host.faults().set_plan(None);
    assert!(host.invoke("probe", json!({"do": "pid"})).await.is_ok());
}

#[tokio::test]
async fn process_gets_the_error_of_its_clock() {
    let host = ProbeHost::start().await;
    host.faults().set_plan(Some(FaultPlan { max_clock_error_ms: 500, ..FaultPlan::default() }));
    let environment = host.invoke("probe", json!({"do": "environment"})).await.unwrap();
    let error_ms: i64 = environment["CLOCK_ERROR_MS"].as_str().unwrap().parse().unwrap();
    assert!((-500..=500).contains(&error_ms), "{error_ms}");
    host.faults().set_plan(None);
    let healthy = ProbeHost::start().await.invoke("probe", json!({"do": "environment"})).await.unwrap();
    assert_eq!(healthy.get("CLOCK_ERROR_MS"), None::<&Value>);
}
