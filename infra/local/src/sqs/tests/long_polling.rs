//! Receivers that wait. These run on the real clock, put back where a moment would be long in
//! coming.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::super::Queues;
use super::*;

/// The queues, and how many milliseconds their clock is behind.
fn queues(definitions: Vec<QueueDefinition>) -> (Queues, Arc<AtomicU64>) {
    let behind = Arc::new(AtomicU64::new(0));
    let (start, of_clock) = (Instant::now(), Arc::clone(&behind));
    let clock = move || {
        let elapsed = u64::try_from(start.elapsed().as_millis()).unwrap();
        START + elapsed - of_clock.load(Ordering::SeqCst)
    };
    let queues = Queues::open_with_clock(&Storage::Memory, definitions, Box::new(clock));
    (queues.unwrap(), behind)
}

/// Fails instead of hanging.
async fn soon<T>(future: impl Future<Output = T>) -> T {
    let limit = Duration::from_secs(10);
    tokio::time::timeout(limit, future).await.expect("it takes too long")
}

async fn receive_one(queues: &Queues, queue: &str) -> Message {
    let received = soon(queues.receive(queue, 1)).await.unwrap();
    received.into_iter().next().unwrap()
}

/// Starts a receiver and lets it come to its waiting point before anything else happens.
async fn waiting(queues: &Queues, queue: &'static str) -> tokio::task::JoinHandle<Message> {
    let queues = queues.clone();
    let receiver = tokio::spawn(async move { receive_one(&queues, queue).await });
    tokio::task::yield_now().await;
    receiver
}

#[tokio::test]
async fn a_send_wakes_a_waiting_receiver() {
    let (queues, _) = queues(vec![queue("q")]);
    let receiver = waiting(&queues, "q").await;
    queues.send("q", message("a")).unwrap();
    assert_eq!(soon(receiver).await.unwrap().body, "a");
}

#[tokio::test]
async fn many_receivers_share_what_comes() {
    let (queues, _) = queues(vec![queue("q")]);
    let first = waiting(&queues, "q").await;
    let second = waiting(&queues, "q").await;
    queues.send("q", message("a")).unwrap();
    queues.send("q", message("b")).unwrap();
    let mut received = [soon(first).await.unwrap().body, soon(second).await.unwrap().body];
    received.sort();
    assert_eq!(received, ["a", "b"]);
}

#[tokio::test]
async fn the_end_of_a_delay_wakes_a_waiting_receiver() {
    let (queues, behind) = queues(vec![queue("q")]);
    behind.store(950, Ordering::SeqCst);
    let delayed = Outgoing { delay_seconds: Some(1), ..message("late") };
    queues.send("q", delayed).unwrap();
    behind.store(0, Ordering::SeqCst);
    let received = receive_one(&queues, "q").await;
    assert!(received.first_received_at_ms >= received.sent_at_ms + 1_000);
}

#[tokio::test]
async fn the_end_of_a_time_out_wakes_a_waiting_receiver() {
    let (queues, behind) = queues(vec![queue("q")]);
    behind.store(29_950, Ordering::SeqCst);
    queues.send("q", message("a")).unwrap();
    receive_one(&queues, "q").await;
    behind.store(0, Ordering::SeqCst);
    assert_eq!(receive_one(&queues, "q").await.receive_count, 2);
}

#[tokio::test]
async fn a_receiver_hears_of_a_time_out_that_ends_sooner_than_what_it_waits_for() {
    let (queues, behind) = queues(vec![queue("q")]);
    queues.send("q", message("a")).unwrap();
    let held = receive_one(&queues, "q").await;
    let receiver = waiting(&queues, "q").await;
    behind.store(950, Ordering::SeqCst);
    queues.service.change_visibility("q", &held.receipt_handle, 1).unwrap();
    behind.store(0, Ordering::SeqCst);
    assert_eq!(soon(receiver).await.unwrap().receive_count, 2);
}

#[tokio::test]
async fn a_delete_lets_the_next_of_a_group_go() {
    let (queues, _) = queues(vec![queue("q.fifo")]);
    queues.send("q.fifo", grouped("g", "1")).unwrap();
    queues.send("q.fifo", grouped("g", "2")).unwrap();
    let first = receive_one(&queues, "q.fifo").await;
    let receiver = waiting(&queues, "q.fifo").await;
    queues.delete("q.fifo", &first.receipt_handle).unwrap();
    assert_eq!(soon(receiver).await.unwrap().body, "2");
}

#[tokio::test]
async fn a_dead_message_wakes_the_receiver_of_the_dead_letter_queue() {
    let source = QueueDefinition { dead_letter: dead_letter("dead", 1), visibility_seconds: 0, ..queue("q") };
    let (queues, _) = queues(vec![source, queue("dead")]);
    let of_dead = waiting(&queues, "dead").await;
    let of_source = waiting(&queues, "q").await;
    queues.send("q", message("a")).unwrap();
    soon(of_source).await.unwrap();
    let next = waiting(&queues, "q").await;
    assert_eq!(soon(of_dead).await.unwrap().body, "a");
    next.abort();
}

#[tokio::test]
async fn a_receiver_that_gives_up_loses_nothing() {
    let (queues, _) = queues(vec![queue("q")]);
    let receiver = waiting(&queues, "q").await;
    receiver.abort();
    queues.send("q", message("a")).unwrap();
    assert_eq!(receive_one(&queues, "q").await.receive_count, 1);
}

#[tokio::test]
async fn an_unknown_queue_is_an_error() {
    let (queues, _) = queues(vec![queue("q")]);
    let refused = soon(queues.receive("none", 1)).await.unwrap_err();
    assert!(matches!(refused, Error::QueueDoesNotExist(name) if name == "none"));
    assert!(queues.send("none", message("a")).is_err());
    assert!(queues.delete("none", "handle").is_err());
    assert!(queues.depth("none").is_err());
}

#[tokio::test]
async fn the_calls_of_the_handle_are_counted_as_requests() {
    let (queues, _) = queues(vec![queue("q")]);
    queues.send("q", message("a")).unwrap();
    let received = receive_one(&queues, "q").await;
    queues.delete("q", &received.receipt_handle).unwrap();
    queues.depth("q").unwrap();
    let counts = queues.usage();
    let count = |action: &str| counts.get(&("q".to_owned(), action.to_owned())).copied();
    assert_eq!(count("SendMessage"), Some(1));
    assert_eq!(count("ReceiveMessage"), Some(1));
    assert_eq!(count("DeleteMessage"), Some(1));
    assert_eq!(counts.len(), 3);
}

#[test]
fn the_real_clock_is_the_time_since_1970() {
    let queues = Queues::open(&Storage::Memory, vec![queue("q")]).unwrap();
    queues.send("q", message("a")).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let received = runtime.unwrap().block_on(receive_one(&queues, "q"));
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let now = u64::try_from(now.unwrap().as_millis()).unwrap();
    assert!(received.sent_at_ms <= now && now - received.sent_at_ms < 60_000);
}
