//! Runs over what is overdue, against the real index.

use std::sync::Mutex;
use std::time::Instant;

use crate::error::Context;
use crate::service::backlog::{Handler, Handling, Report, Run};
use crate::store::tests::*;
use aws_sdk_dynamodb::types::AttributeValue;

/// Notes what it handles. What is called `broken` cannot be handled, what is called `busy` cannot be handled now.
#[derive(Default)]
struct Recorder(Mutex<Vec<String>>);

impl Handler for Recorder {
    fn handle<'a>(&'a self, overdue: &'a Overdue) -> Handling<'a> {
        Box::pin(async move {
            let name = overdue.to_string();
            self.0.lock().unwrap().push(name.clone());
            match name.split(' ').next() {
                Some("broken") => Err(Error::internal("unreadable")),
                Some("busy") => Err(Error::Unavailable(Context::new("throttled"))),
                Some("unchanged") => Ok(false),
                _ => Ok(true),
            }
        })
    }
}

impl Stores {
    /// Puts an item into a partition of the deliveries that are under way.
    async fn put_due(&self, partition: u64, pk: &str, number: u64, due_at: Timestamp) {
        let number_of = |value: u64| AttributeValue::N(value.to_string());
        let text = |value: String| AttributeValue::S(value);
        let item = self.client.put_item().table_name("chats");
        let item = item.item("pk", text(pk.to_owned())).item("sk", text(number.to_string()));
        let item = item.item("due", text(partition.to_string())).item("due_at", number_of(due_at.0));
        item.send().await.unwrap();
    }

    /// A run over everything that was due in the first hour, and what it handled.
    async fn run(&self, seconds: u64, max_handled: u32) -> (Report, Vec<String>) {
        let recorder = Recorder::default();
        let deadline = Instant::now() + Duration::from_secs(seconds);
        let run = Run { chats: &self.chats, backlog: Backlog::Deliveries, before: at(3_600), deadline, max_handled };
        let report = run.work(&recorder).await;
        (report, recorder.0.into_inner().unwrap())
    }
}

#[tokio::test]
async fn a_long_partition_keeps_its_order_and_nobody_waiting() {
    let stores = stores().await;
    for n in 0..60 {
        stores.put_due(3, "long", n, at(n)).await;
    }
    for partition in (0..DUE_PARTITIONS).filter(|partition| *partition != 3) {
        stores.put_due(partition, "short", partition, at(1_000)).await;
    }
    stores.put_due(3, "later", 0, at(3_600)).await;
    let (report, handled) = stores.run(60, 1_000).await;
    assert_eq!(report, Report { handled: 60 + 31, ..Report::default() });
    let long: Vec<_> = handled.iter().filter(|name| name.starts_with("long")).cloned().collect();
    assert_eq!(long, (0..60).map(|n| format!("long {n}")).collect::<Vec<_>>());
    let second_page = handled.iter().position(|name| name == "long 25").unwrap();
    let before = handled[..second_page].iter().filter(|name| name.starts_with("short")).count();
    assert!(before > 31 - 8, "only what is under way beside it may come after: {before}");
}

#[tokio::test]
async fn items_that_fail_are_reported_and_stop_nobody() {
    let stores = stores().await;
    for (partition, pk, second) in
        [(1, "broken", 5), (1, "fine", 7), (2, "busy", 6), (2, "fine", 8), (3, "unchanged", 4)]
    {
        stores.put_due(partition, pk, second, at(second)).await;
    }
    let (report, handled) = stores.run(60, 1_000).await;
    assert_eq!(handled.len(), 5);
    let expected = Report { handled: 2, failed: 2, oldest_waiting: Some(at(6)), oldest_broken: Some(at(5)) };
    assert_eq!((report, report.oldest()), (expected, Some(at(5))));
}

#[tokio::test]
async fn a_run_without_time_tells_how_old_the_rest_is() {
    let stores = stores().await;
    for n in 0..DUE_PARTITIONS {
        stores.put_due(n, "late", n, at(100 + n)).await;
    }
    let (report, handled) = stores.run(0, 1_000).await;
    assert_eq!((report, handled.len()), (Report { oldest_waiting: Some(at(100)), ..Report::default() }, 0));
    let (report, handled) = stores.run(60, 10).await;
    assert!((10..18).contains(&handled.len()), "each of eight at once may handle one more: {}", handled.len());
    assert!(report.oldest_waiting.is_some());
    assert_eq!(stores.run(60, 1_000).await.0.oldest(), None);
}
