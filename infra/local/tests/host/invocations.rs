//! Tests of function invocations in real processes: concurrency, environment, failures, log output, schedules and
//! usage.

use std::collections::BTreeSet;
use std::time::{SystemTime, UNIX_EPOCH};

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::probe_host::{ProbeHost, is_alive, kill, wait_for};

async fn pid(host: &ProbeHost, function: &str) -> u32 {
    let pid = host.invoke(function, json!({"do": "pid"})).await.unwrap();
    u32::try_from(pid.as_u64().unwrap()).unwrap()
}

#[tokio::test]
async fn one_process_serves_sequential_calls() {
    let host = ProbeHost::start().await;
    let first = pid(&host, "probe").await;
    for _ in 0..20 {
        assert_eq!(pid(&host, "probe").await, first);
    }
    assert_eq!(host.processes(), [("probe".to_owned(), first)]);
}

#[tokio::test]
async fn concurrent_calls_get_a_process_each() {
    let host = ProbeHost::start().await;
    let calls = (0..4).map(|_| host.invoke("probe", json!({"do": "sleep", "ms": 300})));
    let pids: BTreeSet<_> = join_all(calls).await.into_iter().map(|pid| pid.unwrap().as_u64()).collect();
    assert_eq!(pids.len(), 4);
}

#[tokio::test]
async fn calls_beyond_the_reserved_concurrency_wait() {
    let host = ProbeHost::start().await;
    let calls = (0..4).map(|_| host.invoke("single", json!({"do": "sleep", "ms": 10})));
    let pids: BTreeSet<_> = join_all(calls).await.into_iter().map(|pid| pid.unwrap().as_u64()).collect();
    assert_eq!(pids.len(), 1);
}

#[tokio::test]
async fn function_environment_matches_lambda_and_inherits_nothing() {
    let host = ProbeHost::start().await;
    let environment = host.invoke("probe", json!({"do": "environment"})).await.unwrap();
    for (name, value) in [
        ("AWS_LAMBDA_FUNCTION_NAME", "probe"),
        ("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "256"),
        ("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST"),
        ("AWS_LAMBDA_LOG_FORMAT", "JSON"),
        ("AWS_LAMBDA_LOG_LEVEL", "INFO"),
        ("AWS_REGION", "us-east-1"),
        ("TZ", ":UTC"),
        ("GREETING", "hello"),
        ("TABLE", "Items"),
        ("BASE_URL", host.base_url()),
    ] {
        assert_eq!(environment[name], value, "{name}");
    }
    let queue = environment["QUEUE_URL"].as_str().unwrap();
    assert!(queue.starts_with("http://127.0.0.1:") && queue.ends_with("/000000000000/Jobs"), "{queue}");
    assert_eq!(environment.get("CARGO"), None);
    assert_eq!(environment.get("HOME"), None);
}

#[tokio::test]
async fn deadline_is_the_timeout_from_now() {
    let host = ProbeHost::start().await;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
    let context = host.invoke("probe", json!({"do": "deadline"})).await.unwrap();
    let remaining_ms = u128::from(context["deadline"].as_u64().unwrap()) - now;
    assert!((9_000..15_000).contains(&remaining_ms), "{remaining_ms}");
    assert_eq!(context["arn"], "arn:aws:lambda:us-east-1:000000000000:function:probe");
}

#[tokio::test]
async fn function_error_fails_only_its_call() {
    let host = ProbeHost::start().await;
    let first = pid(&host, "probe").await;
    for (action, message) in [("fail", "it went wrong"), ("panic", "it went very wrong")] {
        let error = host.invoke("probe", json!({"do": action})).await.unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
    }
    assert_eq!(pid(&host, "probe").await, first);
}

#[tokio::test]
async fn call_after_a_crash_gets_a_new_process() {
    let host = ProbeHost::start().await;
    let first = pid(&host, "probe").await;
    let error = host.invoke("probe", json!({"do": "crash"})).await.unwrap_err();
    assert_eq!(error.to_string(), "probe: the process exited before it responded (exit status: 3)");
    let lines = host.lines("probe");
    assert!(lines.contains(&"the process exited before it responded (exit status: 3)".to_owned()), "{lines:?}");
    assert_ne!(pid(&host, "probe").await, first);
}

#[tokio::test]
async fn idle_process_that_was_killed_is_replaced() {
    let host = ProbeHost::start().await;
    let first = pid(&host, "probe").await;
    kill(first);
    wait_for(|| host.processes(), Vec::is_empty).await;
    assert_ne!(pid(&host, "probe").await, first);
}

#[tokio::test]
async fn killing_a_busy_process_fails_its_call() {
    let host = ProbeHost::start().await;
    let call = host.invoke("probe", json!({"do": "hang"}));
    let killer = async {
        let processes = wait_for(|| host.processes(), |processes| !processes.is_empty()).await;
        kill(processes[0].1);
    };
    let (result, ()) = tokio::join!(call, killer);
    let error = result.unwrap_err().to_string();
    assert!(error.contains("signal: 9"), "{error}");
}

#[tokio::test]
async fn hanging_function_is_killed_at_its_timeout() {
    let host = ProbeHost::start().await;
    let first = pid(&host, "hasty").await;
    let error = host.invoke("hasty", json!({"do": "hang"})).await.unwrap_err();
    assert_eq!(error.to_string(), "hasty: Task timed out after 1.00 seconds");
    wait_for(|| is_alive(first), |alive| !alive).await;
    assert_ne!(pid(&host, "hasty").await, first);
}

#[tokio::test]
async fn function_that_does_not_start_reports_the_reason() {
    let host = ProbeHost::start().await;
    for (function, reason) in [
        ("never-starts", "the process exited before it requested an event (exit status: 7)"),
        ("cannot-start", "the function failed to initialize: Init.NoConfig: TABLE is not set"),
    ] {
        let error = host.invoke(function, json!({})).await.unwrap_err();
        assert_eq!(error.to_string(), format!("{function}: {reason}"));
        assert_eq!(host.lines(function), [reason]);
    }
}

#[tokio::test]
async fn unknown_function_is_an_error() {
    let host = ProbeHost::start().await;
    let error = host.invoke("nobody", json!({})).await.unwrap_err();
    assert_eq!(error.to_string(), "nobody: there is no such function");
}

#[tokio::test]
async fn output_is_logged_line_by_line() {
    let host = ProbeHost::start().await;
    let calls = ["a", "b"].map(|name| host.invoke("probe", json!({"do": "print", "label": name, "lines": 50})));
    join_all(calls).await;
    let lines = wait_for(|| host.lines("probe"), |lines| lines.len() == 102).await;
    for name in ["a", "b"] {
        let printed: Vec<_> = lines.iter().filter(|line| line.starts_with(&format!("{name} line"))).collect();
        let expected: Vec<_> = (0..50).map(|line| format!("{name} line {line}")).collect();
        assert_eq!(printed, expected.iter().collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn schedule_can_be_run_on_request() {
    let host = ProbeHost::start().await;
    let event = host.run_schedule("probe").await.unwrap();
    assert_eq!(event["detail-type"], "Scheduled Event");
    assert_eq!(event["source"], "aws.events");
    assert_eq!(event["resources"][0], "arn:aws:events:us-east-1:000000000000:rule/Hourly");
    let error = host.run_schedule("worker").await.unwrap_err();
    assert_eq!(error.to_string(), "worker has no schedule");
}

#[tokio::test]
async fn usage_counts_calls_errors_and_duration() {
    let host = ProbeHost::start().await;
    host.invoke("probe", json!({"do": "sleep", "ms": 20})).await.unwrap();
    host.invoke("probe", json!({"do": "fail"})).await.unwrap_err();
    let usage = host.usage();
    assert_eq!((&usage["probe"]["invocations"], &usage["probe"]["errors"]), (&json!(2), &json!(1)));
    assert!(usage["probe"]["duration_ms"].as_f64().unwrap() >= 20.0, "{usage}");
    assert_eq!(usage["worker"], Value::Null);
}

#[tokio::test]
async fn event_and_result_of_5_mb_are_passed() {
    let host = ProbeHost::start().await;
    let text = "x".repeat(5_000_000);
    let answer = host.invoke("probe", json!({"do": "answer", "answer": text})).await.unwrap();
    assert_eq!(answer.as_str().map(str::len), Some(5_000_000));
}
