//! Tests of scheduled runs that process overdue items. The runs read the `due` index of a table in the test database.

use std::sync::Mutex;
use std::time::Instant;

use crate::error::ErrorContext;
use crate::service::backlog::{BacklogReport, BacklogRun, HandlerFuture, OverdueHandler};
use crate::store::tests::*;

/// Records the items that it handles. An item named `broken` fails permanently, an item named `busy` fails temporarily,
/// and an item named `unchanged` needs no work.
#[derive(Default)]
struct Recorder(Mutex<Vec<String>>);

impl OverdueHandler for Recorder {
    fn handle<'a>(&'a self, overdue: &'a OverdueItem) -> HandlerFuture<'a> {
        Box::pin(async move {
            let name = overdue.to_string();
            self.0.lock().unwrap().push(name.clone());
            match name.split(' ').next() {
                Some("broken") => Err(Error::internal("unreadable")),
                Some("busy") => Err(Error::Unavailable(ErrorContext::new("throttled"))),
                Some("unchanged") => Ok(false),
                _ => Ok(true),
            }
        })
    }
}

impl Stores {
    /// Stores an item that appears as a pending delivery in this partition of the `due` index.
    async fn put_due_item(&self, partition: u64, pk: &str, number: u64, due_at: Timestamp) {
        let number_of = |value: u64| AttributeValue::N(value.to_string());
        let text = |value: String| AttributeValue::S(value);
        let item = self.client.put_item().table_name("chats");
        let item = item.item("pk", text(pk.to_owned())).item("sk", text(number.to_string()));
        let item = item.item("due", text(partition.to_string())).item("due_at", number_of(due_at.0));
        item.send().await.unwrap();
    }

    /// Processes the items that are due less than an hour after `NOW`, until `seconds` seconds have passed or
    /// `max_changed_items` items were changed. Returns the report, and the items in the order in which they were
    /// handled.
    async fn run_backlog(&self, seconds: u64, max_changed_items: u32) -> (BacklogReport, Vec<String>) {
        let recorder = Recorder::default();
        let deadline = Instant::now() + Duration::from_secs(seconds);
        let run = BacklogRun {
            chats: &self.chats,
            backlog: Backlog::Deliveries,
            due_before: seconds_later(3_600),
            deadline,
            max_changed_items,
        };
        let report = run.process(&recorder).await;
        (report, recorder.0.into_inner().unwrap())
    }
}

#[tokio::test]
async fn long_partition_keeps_its_order_and_does_not_delay_others() {
    let stores = stores().await;
    for n in 0..60 {
        stores.put_due_item(3, "long", n, seconds_later(n)).await;
    }
    for partition in (0..DUE_PARTITIONS).filter(|partition| *partition != 3) {
        stores.put_due_item(partition, "short", partition, seconds_later(1_000)).await;
    }
    stores.put_due_item(3, "later", 0, seconds_later(3_600)).await;
    let (report, handled) = stores.run_backlog(60, 1_000).await;
    assert_eq!(report, BacklogReport { changed: 60 + 31, ..BacklogReport::default() });
    let long: Vec<_> = handled.iter().filter(|name| name.starts_with("long")).cloned().collect();
    assert_eq!(long, (0..60).map(|n| format!("long {n}")).collect::<Vec<_>>());
    let second_page = handled.iter().position(|name| name == "long 25").unwrap();
    let before = handled[..second_page].iter().filter(|name| name.starts_with("short")).count();
    assert!(before > 31 - 8, "only concurrent items may come later: {before}");
}

#[tokio::test]
async fn failed_items_are_reported_and_do_not_stop_the_run() {
    let stores = stores().await;
    for (partition, pk, second) in
        [(1, "broken", 5), (1, "fine", 7), (2, "busy", 6), (2, "fine", 8), (3, "unchanged", 4)]
    {
        stores.put_due_item(partition, pk, second, seconds_later(second)).await;
    }
    let (report, handled) = stores.run_backlog(60, 1_000).await;
    assert_eq!(handled.len(), 5);
    let expected = BacklogReport {
        changed: 2,
        failed: 2,
        oldest_unhandled_due_at: Some(seconds_later(6)),
        oldest_failed_due_at: Some(seconds_later(5)),
    };
    assert_eq!((report, report.oldest_due_at()), (expected, Some(seconds_later(5))));
}

#[tokio::test]
async fn run_without_time_reports_the_oldest_remaining_item() {
    let stores = stores().await;
    for n in 0..DUE_PARTITIONS {
        stores.put_due_item(n, "late", n, seconds_later(100 + n)).await;
    }
    let (report, handled) = stores.run_backlog(0, 1_000).await;
    assert_eq!(
        (report, handled.len()),
        (BacklogReport { oldest_unhandled_due_at: Some(seconds_later(100)), ..BacklogReport::default() }, 0)
    );
    let (report, handled) = stores.run_backlog(60, 10).await;
    assert!((10..18).contains(&handled.len()), "eight concurrent workers may handle one more each: {}", handled.len());
    assert!(report.oldest_unhandled_due_at.is_some());
    assert_eq!(stores.run_backlog(60, 1_000).await.0.oldest_due_at(), None);
}
