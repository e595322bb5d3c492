//! Standard queues.

use super::super::limits::MAX_MESSAGE_BYTES;
use super::*;

fn bench() -> Bench {
    Bench::new(vec![queue("q")])
}

fn delayed(body: &str, seconds: u32) -> Outgoing {
    Outgoing { delay_seconds: Some(seconds), ..message(body) }
}

#[test]
fn a_message_is_received_as_it_was_sent() {
    let bench = bench();
    let sent = bench.send(5_000, "q", grouped("tenant", "hello"));
    let received = bench.receive_one(7_000, "q");
    assert_eq!(sent.md5_of_body, "5d41402abc4b2a76b9719d911017c592");
    assert_eq!(sent.sequence_number, None);
    assert_eq!(
        received,
        Message {
            message_id: sent.message_id,
            receipt_handle: received.receipt_handle.clone(),
            body: "hello".to_owned(),
            md5_of_body: sent.md5_of_body,
            sent_at_ms: 5_000,
            first_received_at_ms: 7_000,
            receive_count: 1,
            group: Some("tenant".to_owned()),
            deduplication_id: None,
            sequence_number: None,
        }
    );
}

#[test]
fn a_receive_takes_the_oldest_messages_and_no_more_than_it_asked_for() {
    let bench = bench();
    for body in ["a", "b", "c"] {
        bench.send(0, "q", message(body));
    }
    assert_eq!(bodies(&bench.receive(0, "q", 2)), ["a", "b"]);
    assert_eq!(bodies(&bench.receive(0, "q", 2)), ["c"]);
}

#[test]
fn messages_of_one_tenant_do_not_wait_for_each_other() {
    let bench = bench();
    bench.send(0, "q", grouped("tenant", "a"));
    bench.send(0, "q", grouped("tenant", "b"));
    assert_eq!(bench.receive_one(0, "q").body, "a");
    assert_eq!(bench.receive_one(0, "q").body, "b");
}

#[test]
fn a_delay_ends_to_the_millisecond() {
    let bench = bench();
    bench.send(250, "q", delayed("late", 3));
    assert_eq!(bench.next_due("q"), Some(3_250));
    bench.assert_nothing(3_249, "q");
    assert_eq!(bench.receive_one(3_250, "q").body, "late");
}

#[test]
fn a_message_says_its_own_delay_or_has_the_queues() {
    let bench = Bench::new(vec![QueueDefinition { delay_seconds: 10, ..queue("q") }]);
    bench.send(0, "q", message("queue"));
    bench.send(0, "q", delayed("none", 0));
    bench.send(0, "q", delayed("own", 900));
    assert_eq!(bodies(&bench.receive(9_999, "q", 10)), ["none"]);
    assert_eq!(bodies(&bench.receive(10_000, "q", 10)), ["queue"]);
    assert_eq!(bodies(&bench.receive(899_999, "q", 10)), ["none", "queue"]);
    assert_eq!(bodies(&bench.receive(900_000, "q", 10)), ["own"]);
}

#[test]
fn a_received_message_is_hidden_until_its_visibility_time_out_ends() {
    let bench = bench();
    bench.send(0, "q", message("a"));
    let first = bench.receive_one(1_000, "q");
    assert_eq!(bench.next_due("q"), Some(31_000));
    bench.assert_nothing(30_999, "q");
    let second = bench.receive_one(31_000, "q");
    assert_eq!(second.message_id, first.message_id);
    assert_eq!(second.receive_count, 2);
    assert_eq!(second.first_received_at_ms, 1_000);
    assert_ne!(second.receipt_handle, first.receipt_handle);
}

#[test]
fn a_receive_may_say_its_own_visibility() {
    let bench = bench();
    bench.send(0, "q", message("a"));
    bench.receive_for(0, "q", 1, Some(2));
    bench.assert_nothing(1_999, "q");
    assert_eq!(bodies(&bench.receive_for(2_000, "q", 10, Some(0))), ["a"]);
    assert_eq!(bodies(&bench.receive(2_000, "q", 10)), ["a"]);
}

#[test]
fn a_deleted_message_never_comes_back() {
    let bench = bench();
    bench.send(0, "q", message("a"));
    let received = bench.receive_one(0, "q");
    bench.delete(0, "q", &received).unwrap();
    bench.delete(0, "q", &received).unwrap();
    bench.assert_nothing(DAY, "q");
    assert_eq!(bench.next_due("q"), None);
}

#[test]
fn the_latest_handle_deletes_even_after_the_time_out_and_an_older_one_silently_does_nothing() {
    let bench = bench();
    bench.send(0, "q", message("a"));
    let old = bench.receive_one(0, "q");
    let latest = bench.receive_one(30_000, "q");
    bench.delete(30_000, "q", &old).unwrap();
    assert_eq!(bench.depth(30_000, "q"), (0, 1, 0));
    bench.delete(90_000, "q", &latest).unwrap();
    assert_eq!(bench.depth(90_000, "q"), (0, 0, 0));
}

#[test]
fn a_handle_belongs_to_one_queue() {
    let bench = Bench::new(vec![queue("q"), queue("other"), queue("q-2")]);
    bench.send(0, "q", message("a"));
    let mut received = bench.receive_one(0, "q");
    for elsewhere in ["other", "q-2"] {
        let refused = bench.delete(0, elsewhere, &received).unwrap_err();
        assert!(matches!(refused, Error::ReceiptHandleIsInvalid));
    }
    for invented in ["", "invented", "cS8x", "é"] {
        received.receipt_handle = invented.to_owned();
        let refused = bench.delete(0, "q", &received).unwrap_err();
        assert!(matches!(refused, Error::ReceiptHandleIsInvalid), "{invented}");
    }
}

#[test]
fn visibility_can_be_prolonged_shortened_and_ended() {
    let bench = bench();
    bench.send(0, "q", message("a"));
    let received = bench.receive_one(0, "q");
    bench.change(29_999, "q", &received, 60).unwrap();
    bench.assert_nothing(89_998, "q");
    bench.change(89_998, "q", &received, 1).unwrap();
    bench.assert_nothing(90_997, "q");
    bench.change(90_997, "q", &received, 0).unwrap();
    assert_eq!(bench.receive_one(90_997, "q").receive_count, 2);
}

#[test]
fn visibility_of_a_message_not_in_flight_cannot_be_changed() {
    let bench = bench();
    bench.send(0, "q", message("a"));
    let first = bench.receive_one(0, "q");
    let refused = bench.change(30_000, "q", &first, 5).unwrap_err();
    assert!(matches!(refused, Error::MessageNotInflight));
    let second = bench.receive_one(30_000, "q");
    let refused = bench.change(30_000, "q", &first, 5).unwrap_err();
    assert!(matches!(refused, Error::NotAvailable(_)));
    let refused = bench.change(30_000, "q", &second, 43_201).unwrap_err();
    assert!(matches!(refused, Error::OutOfRange(_)));
    bench.delete(30_000, "q", &second).unwrap();
    let refused = bench.change(30_000, "q", &second, 5).unwrap_err();
    assert!(matches!(refused, Error::NotAvailable(_)));
}

#[test]
fn retention_ends_for_messages_waiting_delayed_and_in_flight() {
    let bench = Bench::new(vec![QueueDefinition { retention_seconds: 60, visibility_seconds: 600, ..queue("q") }]);
    bench.send(0, "q", message("in flight"));
    bench.receive_one(0, "q");
    bench.send(1, "q", message("waiting"));
    bench.send(1, "q", delayed("delayed", 600));
    assert_eq!(bench.depth(59_999, "q"), (1, 1, 1));
    assert_eq!(bench.depth(60_000, "q"), (1, 0, 1));
    assert_eq!(bench.depth(60_001, "q"), (0, 0, 0));
    bench.assert_nothing(600_000, "q");
    assert_eq!(bench.next_due("q"), None);
}

#[test]
fn depth_tells_waiting_in_flight_and_delayed_apart() {
    let bench = bench();
    for body in ["a", "b", "c"] {
        bench.send(0, "q", message(body));
    }
    bench.send(0, "q", delayed("d", 5));
    bench.receive_one(0, "q");
    assert_eq!(bench.depth(0, "q"), (2, 1, 1));
    assert_eq!(bench.depth(5_000, "q"), (3, 1, 0));
    assert_eq!(bench.depth(30_000, "q"), (4, 0, 0));
}

#[test]
fn a_purge_empties_one_queue() {
    let bench = Bench::new(vec![queue("q"), queue("other")]);
    for name in ["q", "q", "other"] {
        bench.send(0, name, message("a"));
    }
    let in_flight = bench.receive_one(0, "q");
    bench.engine.purge(&bench.queues["q"]).unwrap();
    assert_eq!(bench.depth(0, "q"), (0, 0, 0));
    assert_eq!(bench.depth(0, "other"), (1, 0, 0));
    bench.delete(0, "q", &in_flight).unwrap();
}

#[test]
fn what_sqs_refuses_is_refused() {
    let bench = bench();
    let long = "x".repeat(MAX_MESSAGE_BYTES + 1);
    let refused = |outgoing| bench.try_send(0, "q", outgoing).unwrap_err();
    assert!(matches!(refused(message("")), Error::MissingParameter("MessageBody")));
    assert!(matches!(refused(message(&long)), Error::MessageTooLong(_)));
    assert!(matches!(refused(message("a\u{0}b")), Error::InvalidMessageContents('\u{0}')));
    assert!(matches!(refused(message("\u{FFFE}")), Error::InvalidMessageContents(_)));
    assert!(matches!(refused(delayed("a", 901)), Error::OutOfRange(_)));
    assert!(matches!(refused(grouped("", "a")), Error::InvalidId { .. }));
    assert!(matches!(refused(grouped("a b", "a")), Error::InvalidId { .. }));
    assert!(matches!(refused(grouped(&"g".repeat(129), "a")), Error::InvalidId { .. }));
    let deduplicated = Outgoing { deduplication_id: Some("once".to_owned()), ..message("a") };
    assert!(matches!(refused(deduplicated), Error::WrongQueueType { .. }));
    assert_eq!(bench.depth(DAY, "q"), (0, 0, 0));
}

#[test]
fn what_sqs_just_accepts_is_accepted() {
    let bench = bench();
    let body = "x".repeat(MAX_MESSAGE_BYTES);
    for outgoing in [message(&body), message("\t\r\n é \u{FFFD}\u{10FFFF}"), grouped(&"~".repeat(128), "a")] {
        let text = outgoing.body.clone();
        bench.send(0, "q", outgoing);
        assert_eq!(bench.receive_one(0, "q").body, text);
    }
}
