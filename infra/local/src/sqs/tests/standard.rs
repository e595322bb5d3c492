use super::super::limits::MAX_MESSAGE_BYTES;
use super::*;

fn sqs() -> TestSqs {
    TestSqs::new(vec![queue("q")])
}

fn delayed(body: &str, seconds: u32) -> QueueMessageToSend {
    QueueMessageToSend { delay_seconds: Some(seconds), ..message(body) }
}

#[test]
fn message_is_received_as_sent() {
    let sqs = sqs();
    let sent = sqs.send(5_000, "q", message_in_group("tenant", "hello"));
    let received = sqs.receive_one(7_000, "q");
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
fn receive_returns_the_oldest_messages_up_to_its_maximum() {
    let sqs = sqs();
    for body in ["a", "b", "c"] {
        sqs.send(0, "q", message(body));
    }
    assert_eq!(bodies(&sqs.receive(0, "q", 2)), ["a", "b"]);
    assert_eq!(bodies(&sqs.receive(0, "q", 2)), ["c"]);
}

#[test]
fn message_group_does_not_block_in_a_standard_queue() {
    let sqs = sqs();
    sqs.send(0, "q", message_in_group("tenant", "a"));
    sqs.send(0, "q", message_in_group("tenant", "b"));
    assert_eq!(sqs.receive_one(0, "q").body, "a");
    assert_eq!(sqs.receive_one(0, "q").body, "b");
}

#[test]
fn delay_ends_at_the_exact_millisecond() {
    let sqs = sqs();
    sqs.send(250, "q", delayed("late", 3));
    assert_eq!(sqs.next_due_ms("q"), Some(3_250));
    sqs.assert_none_visible(3_249, "q");
    assert_eq!(sqs.receive_one(3_250, "q").body, "late");
}

#[test]
fn message_delay_overrides_queue_delay() {
    let sqs = TestSqs::new(vec![QueueDefinition { delay_seconds: 10, ..queue("q") }]);
    sqs.send(0, "q", message("queue"));
    sqs.send(0, "q", delayed("none", 0));
    sqs.send(0, "q", delayed("own", 900));
    assert_eq!(bodies(&sqs.receive(9_999, "q", 10)), ["none"]);
    assert_eq!(bodies(&sqs.receive(10_000, "q", 10)), ["queue"]);
    assert_eq!(bodies(&sqs.receive(899_999, "q", 10)), ["none", "queue"]);
    assert_eq!(bodies(&sqs.receive(900_000, "q", 10)), ["own"]);
}

#[test]
fn received_message_is_hidden_for_its_visibility_timeout() {
    let sqs = sqs();
    sqs.send(0, "q", message("a"));
    let first = sqs.receive_one(1_000, "q");
    assert_eq!(sqs.next_due_ms("q"), Some(31_000));
    sqs.assert_none_visible(30_999, "q");
    let second = sqs.receive_one(31_000, "q");
    assert_eq!(second.message_id, first.message_id);
    assert_eq!(second.receive_count, 2);
    assert_eq!(second.first_received_at_ms, 1_000);
    assert_ne!(second.receipt_handle, first.receipt_handle);
}

#[test]
fn receive_overrides_the_visibility_timeout() {
    let sqs = sqs();
    sqs.send(0, "q", message("a"));
    sqs.receive_with_timeout(0, "q", 1, Some(2));
    sqs.assert_none_visible(1_999, "q");
    assert_eq!(bodies(&sqs.receive_with_timeout(2_000, "q", 10, Some(0))), ["a"]);
    assert_eq!(bodies(&sqs.receive(2_000, "q", 10)), ["a"]);
}

#[test]
fn deleted_message_is_never_received() {
    let sqs = sqs();
    sqs.send(0, "q", message("a"));
    let received = sqs.receive_one(0, "q");
    sqs.delete(0, "q", &received).unwrap();
    sqs.delete(0, "q", &received).unwrap();
    sqs.assert_none_visible(DAY_MS, "q");
    assert_eq!(sqs.next_due_ms("q"), None);
}

#[test]
fn only_the_latest_receipt_handle_deletes() {
    let sqs = sqs();
    sqs.send(0, "q", message("a"));
    let old = sqs.receive_one(0, "q");
    let latest = sqs.receive_one(30_000, "q");
    sqs.delete(30_000, "q", &old).unwrap();
    assert_eq!(sqs.depth(30_000, "q"), (0, 1, 0));
    sqs.delete(90_000, "q", &latest).unwrap();
    assert_eq!(sqs.depth(90_000, "q"), (0, 0, 0));
}

#[test]
fn receipt_handle_of_another_queue_is_invalid() {
    let sqs = TestSqs::new(vec![queue("q"), queue("other"), queue("q-2")]);
    sqs.send(0, "q", message("a"));
    let mut received = sqs.receive_one(0, "q");
    for other_queue in ["other", "q-2"] {
        let error = sqs.delete(0, other_queue, &received).unwrap_err();
        assert!(matches!(error, Error::ReceiptHandleIsInvalid));
    }
    for malformed in ["", "malformed", "cS8x", "é"] {
        received.receipt_handle = malformed.to_owned();
        let error = sqs.delete(0, "q", &received).unwrap_err();
        assert!(matches!(error, Error::ReceiptHandleIsInvalid), "{malformed}");
    }
}

#[test]
fn visibility_timeout_can_be_extended_shortened_and_ended() {
    let sqs = sqs();
    sqs.send(0, "q", message("a"));
    let received = sqs.receive_one(0, "q");
    sqs.change_visibility(29_999, "q", &received, 60).unwrap();
    sqs.assert_none_visible(89_998, "q");
    sqs.change_visibility(89_998, "q", &received, 1).unwrap();
    sqs.assert_none_visible(90_997, "q");
    sqs.change_visibility(90_997, "q", &received, 0).unwrap();
    assert_eq!(sqs.receive_one(90_997, "q").receive_count, 2);
}

#[test]
fn visibility_change_requires_a_message_in_flight() {
    let sqs = sqs();
    sqs.send(0, "q", message("a"));
    let first = sqs.receive_one(0, "q");
    let error = sqs.change_visibility(30_000, "q", &first, 5).unwrap_err();
    assert!(matches!(error, Error::MessageNotInflight));
    let second = sqs.receive_one(30_000, "q");
    let error = sqs.change_visibility(30_000, "q", &first, 5).unwrap_err();
    assert!(matches!(error, Error::MessageNotAvailable(_)));
    let error = sqs.change_visibility(30_000, "q", &second, 43_201).unwrap_err();
    assert!(matches!(error, Error::OutOfRange(_)));
    sqs.delete(30_000, "q", &second).unwrap();
    let error = sqs.change_visibility(30_000, "q", &second, 5).unwrap_err();
    assert!(matches!(error, Error::MessageNotAvailable(_)));
}

#[test]
fn retention_expires_visible_delayed_and_in_flight() {
    let sqs =
        TestSqs::new(vec![QueueDefinition { retention_seconds: 60, visibility_timeout_seconds: 600, ..queue("q") }]);
    sqs.send(0, "q", message("in flight"));
    sqs.receive_one(0, "q");
    sqs.send(1, "q", message("waiting"));
    sqs.send(1, "q", delayed("delayed", 600));
    assert_eq!(sqs.depth(59_999, "q"), (1, 1, 1));
    assert_eq!(sqs.depth(60_000, "q"), (1, 0, 1));
    assert_eq!(sqs.depth(60_001, "q"), (0, 0, 0));
    sqs.assert_none_visible(600_000, "q");
    assert_eq!(sqs.next_due_ms("q"), None);
}

#[test]
fn depth_counts_visible_in_flight_and_delayed() {
    let sqs = sqs();
    for body in ["a", "b", "c"] {
        sqs.send(0, "q", message(body));
    }
    sqs.send(0, "q", delayed("d", 5));
    sqs.receive_one(0, "q");
    assert_eq!(sqs.depth(0, "q"), (2, 1, 1));
    assert_eq!(sqs.depth(5_000, "q"), (3, 1, 0));
    assert_eq!(sqs.depth(30_000, "q"), (4, 0, 0));
}

#[test]
fn purge_empties_only_its_queue() {
    let sqs = TestSqs::new(vec![queue("q"), queue("other")]);
    for name in ["q", "q", "other"] {
        sqs.send(0, name, message("a"));
    }
    let in_flight = sqs.receive_one(0, "q");
    sqs.engine.purge(&sqs.definitions["q"]).unwrap();
    assert_eq!(sqs.depth(0, "q"), (0, 0, 0));
    assert_eq!(sqs.depth(0, "other"), (1, 0, 0));
    sqs.delete(0, "q", &in_flight).unwrap();
}

#[test]
fn invalid_messages_are_rejected() {
    let sqs = sqs();
    let long = "x".repeat(MAX_MESSAGE_BYTES + 1);
    let rejection = |message| sqs.try_send(0, "q", message).unwrap_err();
    assert!(matches!(rejection(message("")), Error::MissingParameter("MessageBody")));
    assert!(matches!(rejection(message(&long)), Error::MessageTooLong(_)));
    assert!(matches!(rejection(message("a\u{0}b")), Error::InvalidMessageContents('\u{0}')));
    assert!(matches!(rejection(message("\u{FFFE}")), Error::InvalidMessageContents(_)));
    assert!(matches!(rejection(delayed("a", 901)), Error::OutOfRange(_)));
    assert!(matches!(rejection(message_in_group("", "a")), Error::InvalidId { .. }));
    assert!(matches!(rejection(message_in_group("a b", "a")), Error::InvalidId { .. }));
    assert!(matches!(rejection(message_in_group(&"g".repeat(129), "a")), Error::InvalidId { .. }));
    let deduplicated = QueueMessageToSend { deduplication_id: Some("once".to_owned()), ..message("a") };
    assert!(matches!(rejection(deduplicated), Error::WrongQueueType { .. }));
    assert_eq!(sqs.depth(DAY_MS, "q"), (0, 0, 0));
}

#[test]
fn messages_at_the_limits_are_accepted() {
    let sqs = sqs();
    let body = "x".repeat(MAX_MESSAGE_BYTES);
    for outgoing in [message(&body), message("\t\r\n é \u{FFFD}\u{10FFFF}"), message_in_group(&"~".repeat(128), "a")] {
        let text = outgoing.body.clone();
        sqs.send(0, "q", outgoing);
        assert_eq!(sqs.receive_one(0, "q").body, text);
    }
}
