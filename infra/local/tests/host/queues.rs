//! Tests of queue messages that are sent by or delivered to a real process, also during outages, database errors and
//! injected faults.

use std::path::Path;

use local::faults::{FaultPlan, MessageFaultRates};
use local::sqs::QueueMessageToSend;
use local::{Host, HostStorage};
use serde_json::json;

use crate::probe_host::{ProbeHost, link_binaries, memory_options, start_with_template_change, wait_for};

const JOBS: &str = "Jobs";
const ORDERED: &str = "OrderedJobs.fifo";

/// Starts a host whose worker is already running, because starting the worker can take longer than the visibility
/// timeout of one second.
async fn warm_host() -> ProbeHost {
    let host = ProbeHost::start().await;
    host.invoke("worker", json!({"Records": []})).await.unwrap();
    host
}

fn send(host: &ProbeHost, queue: &str, body: &str, group: Option<&str>) {
    let outgoing = QueueMessageToSend {
        body: body.to_owned(),
        group: group.map(str::to_owned),
        deduplication_id: group.map(|_| body.to_owned()),
        ..QueueMessageToSend::default()
    };
    host.queues().send(queue, outgoing).unwrap();
}

async fn wait_until_empty(host: &ProbeHost, queue: &str) {
    let depth = || host.queues().depth(queue).unwrap();
    wait_for(depth, |depth| depth.visible + depth.in_flight + depth.delayed == 0).await;
}

fn count_received(host: &ProbeHost, body: &str) -> usize {
    let line = format!("got {body}");
    host.lines("worker").iter().filter(|logged| **logged == line).count()
}

#[tokio::test]
async fn message_is_delivered_and_deleted() {
    let host = warm_host().await;
    send(&host, JOBS, "one", None);
    wait_until_empty(&host, JOBS).await;
    wait_for(|| count_received(&host, "one"), |count| *count == 1).await;
}

#[tokio::test]
async fn only_failed_messages_are_retried() {
    let host = warm_host().await;
    for body in ["good", "fail", "fine"] {
        send(&host, JOBS, body, None);
    }
    wait_for(|| count_received(&host, "fail"), |count| *count == 2).await;
    wait_until_empty(&host, JOBS).await;
    assert_eq!((count_received(&host, "good"), count_received(&host, "fine")), (1, 1));
    assert_eq!(host.queues().depth("DeadJobs").unwrap().visible, 1);
}

#[tokio::test]
async fn invalid_failure_report_fails_the_whole_batch() {
    let host = warm_host().await;
    send(&host, JOBS, "nonsense", None);
    wait_for(|| count_received(&host, "nonsense"), |count| *count == 2).await;
}

#[tokio::test]
async fn crash_leaves_the_batch_in_the_queue() {
    let host = warm_host().await;
    send(&host, JOBS, "crash", None);
    wait_for(|| count_received(&host, "crash"), |count| *count == 2).await;
    wait_for(|| host.queues().depth("DeadJobs").unwrap().visible, |dead| *dead == 1).await;
}

#[tokio::test]
async fn group_order_is_preserved_after_a_failure() {
    let host = warm_host().await;
    for body in ["1", "fail-2", "3"] {
        send(&host, ORDERED, body, Some("chat"));
    }
    send(&host, ORDERED, "other", Some("other-chat"));
    wait_for(|| count_received(&host, "other"), |count| *count == 1).await;
    wait_for(|| count_received(&host, "fail-2"), |count| *count >= 2).await;
    let depth = || host.queues().depth(ORDERED).unwrap();
    wait_for(depth, |depth| depth.visible + depth.in_flight == 2).await;
    assert_eq!((count_received(&host, "1"), count_received(&host, "other")), (1, 1));
}

/// The template's `MaximumConcurrency` applies whether it is lower or higher than the host's default.
#[tokio::test]
async fn queue_concurrency_follows_the_template() {
    // The event in the template. `limited` reduces its batch size to 1, so that each message occupies one process.
    const EVENT: &str = "Queue: !GetAtt OrderedJobs.Arn\n            BatchSize: 5";
    for cap in [2, 40] {
        let folder = link_binaries();
        let limited = EVENT.replace("BatchSize: 5", "BatchSize: 1");
        let limited = format!("{limited}\n            ScalingConfig: {{MaximumConcurrency: {cap}}}");
        let host = start_with_template_change(folder.path(), EVENT, &limited).await.unwrap();
        for n in 0..=cap {
            let (body, group) = (format!("hang {n}"), Some(format!("chat-{n}")));
            let id = Some(n.to_string());
            let outgoing = QueueMessageToSend { deduplication_id: id, body, group, ..QueueMessageToSend::default() };
            host.queues().send(ORDERED, outgoing).unwrap();
        }
        let working = || host.processes().iter().filter(|(function, _)| function == "worker").count();
        wait_for(working, |count| *count == cap).await;
        let depth = host.queues().depth(ORDERED).unwrap();
        assert_eq!((depth.in_flight, depth.visible), (cap as u64, 1));
    }
}

#[tokio::test]
async fn function_sends_with_the_official_sdk() {
    let host = warm_host().await;
    let id = host.invoke("probe", json!({"do": "send", "body": "from the sdk"})).await.unwrap();
    assert!(id.is_string(), "{id}");
    wait_for(|| count_received(&host, "from the sdk"), |count| *count == 1).await;
    wait_until_empty(&host, JOBS).await;
    assert_eq!(host.usage()["probe"]["sqs"], json!({"Jobs/SendMessage": 1}));
    let worker = &host.usage()["worker"]["sqs"];
    assert_eq!(*worker, json!({"Jobs/ReceiveMessage": 1, "Jobs/DeleteMessageBatch": 1}));
}

#[tokio::test]
async fn sends_can_be_refused_on_request() {
    let host = warm_host().await;
    host.set_sqs_outage(true);
    let refused = host.invoke("probe", json!({"do": "send", "body": "lost"})).await.unwrap_err().to_string();
    assert!(refused.contains("ServiceUnavailable"), "{refused}");
    host.set_sqs_outage(false);
    host.invoke("probe", json!({"do": "send", "body": "kept"})).await.unwrap();
    wait_for(|| count_received(&host, "kept"), |count| *count == 1).await;
    assert_eq!(count_received(&host, "lost"), 0);
}

fn database(data: &Path) -> rusqlite::Connection {
    rusqlite::Connection::open(data.join("sqs.sqlite")).unwrap()
}

#[tokio::test]
async fn queue_database_errors_are_logged_at_most_once_a_minute() {
    let (binaries, data) = (link_binaries(), tempfile::tempdir().unwrap());
    for (event, operation) in [("UPDATE", "received from"), ("DELETE", "deleted from")] {
        let (mut options, lines) = memory_options(binaries.path());
        options.storage = HostStorage::Dir(data.path().to_owned());
        let host = ProbeHost { host: Host::start(options).await.unwrap(), lines, folder: tempfile::tempdir().unwrap() };
        let broken =
            format!("CREATE TRIGGER broken BEFORE {event} ON messages BEGIN SELECT RAISE(FAIL, 'worn out'); END");
        database(data.path()).execute_batch(&broken).unwrap();
        send(&host, JOBS, event, None);
        let expected = format!("messages cannot be {operation} Jobs: the queue database: worn out");
        let logged_errors = || host.lines("worker").into_iter().filter(|line| *line == expected).count();
        wait_for(logged_errors, |count| *count > 0).await;
        if event == "UPDATE" {
            let receives =
                || host.queues().request_counts().get(&(JOBS.to_owned(), "ReceiveMessage".to_owned())).copied();
            let before = receives().unwrap_or_default();
            wait_for(receives, |receives| receives.unwrap_or_default() > before + 1).await;
            assert_eq!(logged_errors(), 1, "logged once a minute");
        }
        host.host.stop().await;
        database(data.path()).execute_batch("DROP TRIGGER broken; DELETE FROM messages").unwrap();
    }
}

#[tokio::test]
async fn processed_messages_are_received_again_as_planned() {
    let host = warm_host().await;
    let messages = MessageFaultRates { repeated: 1_000, ..MessageFaultRates::default() };
    host.faults().set_plan(Some(FaultPlan { messages, ..FaultPlan::default() }));
    send(&host, JOBS, "again", None);
    send(&host, ORDERED, "again-in-order", Some("chat"));
    wait_for(|| count_received(&host, "again"), |count| *count >= 2).await;
    wait_for(|| count_received(&host, "again-in-order"), |count| *count >= 2).await;
    host.faults().set_plan(None);
    wait_until_empty(&host, JOBS).await;
    wait_until_empty(&host, ORDERED).await;
}
