//! Messages from queues into a real process.

use std::path::Path;

use local::sqs::Outgoing;
use local::{Host, Storage};
use serde_json::json;

use crate::support::{TestHost, binaries, options, start_changed, wait_for};

const JOBS: &str = "Jobs";
const ORDERED: &str = "OrderedJobs.fifo";

/// A host whose worker has been started: the queues show a message again after a second.
async fn warm_host() -> TestHost {
    let host = TestHost::start().await;
    host.invoke("worker", json!({"Records": []})).await.unwrap();
    host
}

fn send(host: &TestHost, queue: &str, body: &str, group: Option<&str>) {
    let outgoing = Outgoing {
        body: body.to_owned(),
        group: group.map(str::to_owned),
        deduplication_id: group.map(|_| body.to_owned()),
        ..Outgoing::default()
    };
    host.queues().send(queue, outgoing).unwrap();
}

/// Waits until nothing is left in the queue.
async fn drained(host: &TestHost, queue: &str) {
    let depth = || host.queues().depth(queue).unwrap();
    wait_for(depth, |depth| depth.visible + depth.in_flight + depth.delayed == 0).await;
}

/// How often the worker got the body.
fn got(host: &TestHost, body: &str) -> usize {
    let line = format!("got {body}");
    host.lines("worker").iter().filter(|own| **own == line).count()
}

#[tokio::test]
async fn a_message_reaches_the_function_and_is_deleted() {
    let host = warm_host().await;
    send(&host, JOBS, "one", None);
    drained(&host, JOBS).await;
    wait_for(|| got(&host, "one"), |count| *count == 1).await;
}

#[tokio::test]
async fn only_the_messages_that_failed_come_back() {
    let host = warm_host().await;
    for body in ["good", "fail", "fine"] {
        send(&host, JOBS, body, None);
    }
    wait_for(|| got(&host, "fail"), |count| *count == 2).await;
    drained(&host, JOBS).await;
    assert_eq!((got(&host, "good"), got(&host, "fine")), (1, 1));
    assert_eq!(host.queues().depth("DeadJobs").unwrap().visible, 1);
}

#[tokio::test]
async fn a_report_that_makes_no_sense_fails_the_whole_batch() {
    let host = warm_host().await;
    send(&host, JOBS, "nonsense", None);
    wait_for(|| got(&host, "nonsense"), |count| *count == 2).await;
}

#[tokio::test]
async fn a_crash_leaves_the_batch_in_the_queue() {
    let host = warm_host().await;
    send(&host, JOBS, "crash", None);
    wait_for(|| got(&host, "crash"), |count| *count == 2).await;
    wait_for(|| host.queues().depth("DeadJobs").unwrap().visible, |dead| *dead == 1).await;
}

#[tokio::test]
async fn a_group_keeps_its_order_past_a_failure() {
    let host = warm_host().await;
    for body in ["1", "fail-2", "3"] {
        send(&host, ORDERED, body, Some("chat"));
    }
    send(&host, ORDERED, "other", Some("other-chat"));
    wait_for(|| got(&host, "other"), |count| *count == 1).await;
    wait_for(|| got(&host, "fail-2"), |count| *count >= 2).await;
    let depth = || host.queues().depth(ORDERED).unwrap();
    wait_for(depth, |depth| depth.visible + depth.in_flight == 2).await;
    assert_eq!((got(&host, "1"), got(&host, "other")), (1, 1));
}

/// A queue's `MaximumConcurrency` of the template is what runs at once, be it less or more than the host would choose.
#[tokio::test]
async fn a_queue_has_the_concurrency_that_the_template_says() {
    // Batches of one, so that each message occupies a process of its own.
    const EVENT: &str = "Queue: !GetAtt OrderedJobs.Arn\n            BatchSize: 5";
    for cap in [2, 40] {
        let folder = binaries();
        let limited = EVENT.replace("BatchSize: 5", "BatchSize: 1");
        let limited = format!("{limited}\n            ScalingConfig: {{MaximumConcurrency: {cap}}}");
        let host = start_changed(folder.path(), EVENT, &limited).await.unwrap();
        for n in 0..=cap {
            let (body, group) = (format!("hang {n}"), Some(format!("chat-{n}")));
            let id = Some(n.to_string());
            let outgoing = Outgoing { deduplication_id: id, body, group, ..Outgoing::default() };
            host.queues().send(ORDERED, outgoing).unwrap();
        }
        let working = || host.processes().iter().filter(|(function, _)| function == "worker").count();
        wait_for(working, |count| *count == cap).await;
        let depth = host.queues().depth(ORDERED).unwrap();
        assert_eq!((depth.in_flight, depth.visible), (cap as u64, 1));
    }
}

#[tokio::test]
async fn a_function_sends_with_the_official_sdk() {
    let host = warm_host().await;
    let id = host.invoke("probe", json!({"do": "send", "body": "from the sdk"})).await.unwrap();
    assert!(id.is_string(), "{id}");
    wait_for(|| got(&host, "from the sdk"), |count| *count == 1).await;
    drained(&host, JOBS).await;
    assert_eq!(host.usage()["probe"]["sqs"], json!({"Jobs/SendMessage": 1}));
    let worker = &host.usage()["worker"]["sqs"];
    assert_eq!(*worker, json!({"Jobs/ReceiveMessage": 1, "Jobs/DeleteMessageBatch": 1}));
}

#[tokio::test]
async fn sends_are_refused_while_a_test_wants_that() {
    let host = warm_host().await;
    host.refuse_sends(true);
    let refused = host.invoke("probe", json!({"do": "send", "body": "lost"})).await.unwrap_err().to_string();
    assert!(refused.contains("ServiceUnavailable"), "{refused}");
    host.refuse_sends(false);
    host.invoke("probe", json!({"do": "send", "body": "kept"})).await.unwrap();
    wait_for(|| got(&host, "kept"), |count| *count == 1).await;
    assert_eq!(got(&host, "lost"), 0);
}

/// The queues of a data folder, from beside the host.
fn database(data: &Path) -> rusqlite::Connection {
    rusqlite::Connection::open(data.join("sqs.sqlite")).unwrap()
}

#[tokio::test]
async fn a_queue_database_that_fails_is_complained_about_now_and_then() {
    let (binaries, data) = (binaries(), tempfile::tempdir().unwrap());
    for (event, what) in [("UPDATE", "taken from"), ("DELETE", "deleted from")] {
        let (mut options, lines) = options(binaries.path());
        options.storage = Storage::Dir(data.path().to_owned());
        let host = TestHost { host: Host::start(options).await.unwrap(), lines, folder: tempfile::tempdir().unwrap() };
        let broken =
            format!("CREATE TRIGGER broken BEFORE {event} ON messages BEGIN SELECT RAISE(FAIL, 'worn out'); END");
        database(data.path()).execute_batch(&broken).unwrap();
        send(&host, JOBS, event, None);
        let expected = format!("messages cannot be {what} Jobs: the queue database: worn out");
        let complaints = || host.lines("worker").into_iter().filter(|line| *line == expected).count();
        wait_for(complaints, |count| *count > 0).await;
        if event == "UPDATE" {
            let tries = || host.queues().usage().get(&(JOBS.to_owned(), "ReceiveMessage".to_owned())).copied();
            let before = tries().unwrap_or_default();
            wait_for(tries, |tries| tries.unwrap_or_default() > before + 1).await;
            assert_eq!(complaints(), 1, "once a minute is enough");
        }
        host.host.stop().await;
        database(data.path()).execute_batch("DROP TRIGGER broken; DELETE FROM messages").unwrap();
    }
}
