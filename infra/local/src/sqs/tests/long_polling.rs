//! Tests of `Queues`: receivers that wait for messages, unknown queues and request counts. Tests that wait for the end
//! of a delay or a visibility timeout advance the queues' clock.

use std::time::Duration;

use super::super::Queues;
use super::*;
use crate::clock::Clock;

/// Opens queues and returns them with their clock.
fn queues(definitions: Vec<QueueDefinition>) -> (Queues, Clock) {
    let clock = Clock::new().unwrap();
    let queues = Queues::open(&QueueDatabaseLocation::Memory, definitions, clock.clone());
    (queues.unwrap(), clock)
}

async fn within_ten_seconds<T>(future: impl Future<Output = T>) -> T {
    let limit = Duration::from_secs(10);
    tokio::time::timeout(limit, future).await.expect("completion within ten seconds")
}

async fn receive_one(queues: &Queues, queue: &str) -> Message {
    let received = within_ten_seconds(queues.receive(queue, 1)).await.unwrap();
    received.into_iter().next().unwrap()
}

/// Starts a task that receives a message, and returns once the task is waiting for a message.
async fn spawn_receiver(queues: &Queues, queue: &'static str) -> tokio::task::JoinHandle<Message> {
    let queues = queues.clone();
    let receiver = tokio::spawn(async move { receive_one(&queues, queue).await });
    tokio::task::yield_now().await;
    receiver
}

#[tokio::test]
async fn send_wakes_a_waiting_receiver() {
    let (queues, _) = queues(vec![queue("q")]);
    let receiver = spawn_receiver(&queues, "q").await;
    queues.send("q", message("a")).unwrap();
    assert_eq!(within_ten_seconds(receiver).await.unwrap().body, "a");
}

#[tokio::test]
async fn each_waiting_receiver_gets_one_message() {
    let (queues, _) = queues(vec![queue("q")]);
    let first = spawn_receiver(&queues, "q").await;
    let second = spawn_receiver(&queues, "q").await;
    queues.send("q", message("a")).unwrap();
    queues.send("q", message("b")).unwrap();
    let mut received = [within_ten_seconds(first).await.unwrap().body, within_ten_seconds(second).await.unwrap().body];
    received.sort();
    assert_eq!(received, ["a", "b"]);
}

#[tokio::test]
async fn end_of_delay_wakes_a_waiting_receiver() {
    let (queues, clock) = queues(vec![queue("q")]);
    let delayed = QueueMessageToSend { delay_seconds: Some(1), ..message("late") };
    queues.send("q", delayed).unwrap();
    clock.advance_by(Duration::from_millis(950)).unwrap();
    let received = receive_one(&queues, "q").await;
    assert!(received.first_received_at_ms >= received.sent_at_ms + 1_000);
}

#[tokio::test]
async fn end_of_visibility_timeout_wakes_a_waiting_receiver() {
    let (queues, clock) = queues(vec![queue("q")]);
    queues.send("q", message("a")).unwrap();
    receive_one(&queues, "q").await;
    let receiver = spawn_receiver(&queues, "q").await;
    clock.advance_by(Duration::from_secs(30)).unwrap();
    assert_eq!(within_ten_seconds(receiver).await.unwrap().receive_count, 2);
}

#[tokio::test]
async fn shortened_visibility_timeout_wakes_a_waiting_receiver() {
    let (queues, clock) = queues(vec![queue("q")]);
    queues.send("q", message("a")).unwrap();
    let in_flight = receive_one(&queues, "q").await;
    let receiver = spawn_receiver(&queues, "q").await;
    queues.engine.change_visibility("q", &in_flight.receipt_handle, 1).unwrap();
    clock.advance_by(Duration::from_secs(1)).unwrap();
    assert_eq!(within_ten_seconds(receiver).await.unwrap().receive_count, 2);
}

#[tokio::test]
async fn delete_wakes_the_receiver_of_the_next_in_the_group() {
    let (queues, _) = queues(vec![queue("q.fifo")]);
    queues.send("q.fifo", message_in_group("g", "1")).unwrap();
    queues.send("q.fifo", message_in_group("g", "2")).unwrap();
    let first = receive_one(&queues, "q.fifo").await;
    let receiver = spawn_receiver(&queues, "q.fifo").await;
    queues.delete("q.fifo", &first.receipt_handle).unwrap();
    assert_eq!(within_ten_seconds(receiver).await.unwrap().body, "2");
}

#[tokio::test]
async fn moved_message_wakes_a_dead_letter_queue_receiver() {
    let source =
        QueueDefinition { redrive_policy: redrive_policy("dead", 1), visibility_timeout_seconds: 0, ..queue("q") };
    let (queues, _) = queues(vec![source, queue("dead")]);
    let dead_letter_receiver = spawn_receiver(&queues, "dead").await;
    let source_receiver = spawn_receiver(&queues, "q").await;
    queues.send("q", message("a")).unwrap();
    within_ten_seconds(source_receiver).await.unwrap();
    let second_source_receiver = spawn_receiver(&queues, "q").await;
    assert_eq!(within_ten_seconds(dead_letter_receiver).await.unwrap().body, "a");
    second_source_receiver.abort();
}

#[tokio::test]
async fn cancelled_receive_loses_no_message() {
    let (queues, _) = queues(vec![queue("q")]);
    let receiver = spawn_receiver(&queues, "q").await;
    receiver.abort();
    queues.send("q", message("a")).unwrap();
    assert_eq!(receive_one(&queues, "q").await.receive_count, 1);
}

#[tokio::test]
async fn unknown_queue_is_an_error() {
    let (queues, _) = queues(vec![queue("q")]);
    let error = within_ten_seconds(queues.receive("none", 1)).await.unwrap_err();
    assert!(matches!(error, Error::QueueDoesNotExist(name) if name == "none"));
    assert!(queues.send("none", message("a")).is_err());
    assert!(queues.delete("none", "handle").is_err());
    assert!(queues.depth("none").is_err());
}

#[tokio::test]
async fn direct_calls_are_counted_as_requests() {
    let (queues, _) = queues(vec![queue("q")]);
    queues.send("q", message("a")).unwrap();
    let received = receive_one(&queues, "q").await;
    queues.delete("q", &received.receipt_handle).unwrap();
    queues.depth("q").unwrap();
    let counts = queues.request_counts();
    let count = |action: &str| counts.get(&("q".to_owned(), action.to_owned())).copied();
    assert_eq!(count("SendMessage"), Some(1));
    assert_eq!(count("ReceiveMessage"), Some(1));
    assert_eq!(count("DeleteMessage"), Some(1));
    assert_eq!(counts.len(), 3);
}
