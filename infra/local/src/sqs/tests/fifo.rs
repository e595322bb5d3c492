//! Tests of FIFO queues: order in message groups, receipt handles, sequence numbers, delays, deduplication, expiry and
//! purge.

use super::*;

const DEDUPLICATION_WINDOW_MS: u64 = 300_000;

fn sqs() -> TestSqs {
    TestSqs::new(vec![queue("q.fifo")])
}

fn message_with_id(group: &str, body: &str, deduplication_id: &str) -> QueueMessageToSend {
    QueueMessageToSend { deduplication_id: Some(deduplication_id.to_owned()), ..message_in_group(group, body) }
}

#[test]
fn message_group_is_received_in_send_order() {
    let sqs = sqs();
    for body in ["1", "2", "3"] {
        sqs.send(0, "q.fifo", message_in_group("g", body));
    }
    for body in ["1", "2", "3"] {
        let received = sqs.receive_one(0, "q.fifo");
        assert_eq!(received.body, body);
        sqs.delete(0, "q.fifo", &received).unwrap();
    }
    sqs.assert_none_visible(DAY_MS, "q.fifo");
}

#[test]
fn message_in_flight_blocks_its_group() {
    let sqs = sqs();
    sqs.send(0, "q.fifo", message_in_group("g", "1"));
    let first = sqs.receive_one(0, "q.fifo");
    sqs.send(1, "q.fifo", message_in_group("g", "2"));
    sqs.assert_none_visible(29_999, "q.fifo");
    sqs.delete(29_999, "q.fifo", &first).unwrap();
    assert_eq!(sqs.receive_one(29_999, "q.fifo").body, "2");
}

#[test]
fn message_in_flight_does_not_block_other_groups() {
    let sqs = sqs();
    for (group, body) in [("g", "g1"), ("g", "g2"), ("h", "h1")] {
        sqs.send(0, "q.fifo", message_in_group(group, body));
    }
    assert_eq!(sqs.receive_one(0, "q.fifo").body, "g1");
    assert_eq!(sqs.receive_one(0, "q.fifo").body, "h1");
    sqs.assert_none_visible(0, "q.fifo");
}

#[test]
fn message_is_first_again_after_visibility_timeout() {
    let sqs = sqs();
    sqs.send(0, "q.fifo", message_in_group("g", "1"));
    sqs.send(0, "q.fifo", message_in_group("g", "2"));
    sqs.receive_one(0, "q.fifo");
    let received = sqs.receive_one(30_000, "q.fifo");
    assert_eq!((received.body.as_str(), received.receive_count), ("1", 2));
}

#[test]
fn batch_is_filled_group_by_group_in_order() {
    let sqs = sqs();
    for (group, body) in [("g", "g1"), ("h", "h1"), ("g", "g2"), ("g", "g3")] {
        sqs.send(0, "q.fifo", message_in_group(group, body));
    }
    assert_eq!(bodies(&sqs.receive(0, "q.fifo", 10)), ["g1", "g2", "g3", "h1"]);
    assert_eq!(bodies(&sqs.receive(30_000, "q.fifo", 2)), ["g1", "g2"]);
    assert_eq!(bodies(&sqs.receive(30_000, "q.fifo", 2)), ["h1"]);
}

#[test]
fn every_message_of_a_batch_blocks_its_group() {
    let sqs = sqs();
    for body in ["1", "2", "3"] {
        sqs.send(0, "q.fifo", message_in_group("g", body));
    }
    let batch = sqs.receive(0, "q.fifo", 2);
    sqs.delete(0, "q.fifo", &batch[0]).unwrap();
    sqs.assert_none_visible(29_999, "q.fifo");
    sqs.delete(29_999, "q.fifo", &batch[1]).unwrap();
    assert_eq!(sqs.receive_one(29_999, "q.fifo").body, "3");
}

#[test]
fn message_made_visible_waits_for_the_rest_of_its_batch() {
    let sqs = sqs();
    for body in ["1", "2"] {
        sqs.send(0, "q.fifo", message_in_group("g", body));
    }
    let batch = sqs.receive(0, "q.fifo", 2);
    sqs.change_visibility(0, "q.fifo", &batch[0], 0).unwrap();
    sqs.assert_none_visible(29_999, "q.fifo");
    sqs.change_visibility(29_999, "q.fifo", &batch[1], 0).unwrap();
    assert_eq!(bodies(&sqs.receive(29_999, "q.fifo", 2)), ["1", "2"]);
}

#[test]
fn expired_receipt_handle_cannot_delete() {
    let sqs = sqs();
    sqs.send(0, "q.fifo", message_in_group("g", "1"));
    let first = sqs.receive_one(0, "q.fifo");
    let error = sqs.delete(30_000, "q.fifo", &first).unwrap_err();
    assert!(matches!(error, Error::ReceiptHandleExpired(_)));
    let second = sqs.receive_one(30_000, "q.fifo");
    let error = sqs.delete(30_000, "q.fifo", &first).unwrap_err();
    assert!(matches!(error, Error::ReceiptHandleExpired(_)));
    sqs.delete(30_000, "q.fifo", &second).unwrap();
    sqs.delete(30_000, "q.fifo", &second).unwrap();
}

#[test]
fn sequence_numbers_increase_and_have_twenty_digits() {
    let sqs = sqs();
    let sent = ["1", "2"].map(|body| sqs.send(0, "q.fifo", message_in_group("g", body)));
    let numbers = sent.map(|sent| sent.sequence_number.unwrap());
    assert!(numbers.iter().all(|number| number.len() == 20));
    assert!(numbers[0] < numbers[1]);
    let received = sqs.receive_one(0, "q.fifo");
    assert_eq!(received.sequence_number.as_ref(), Some(&numbers[0]));
}

#[test]
fn queue_delay_preserves_order() {
    let sqs = TestSqs::new(vec![QueueDefinition { delay_seconds: 10, ..queue("q.fifo") }]);
    sqs.send(0, "q.fifo", message_in_group("g", "1"));
    sqs.send(5_000, "q.fifo", message_in_group("g", "2"));
    sqs.assert_none_visible(9_999, "q.fifo");
    let first = sqs.receive(10_000, "q.fifo", 10);
    assert_eq!(bodies(&first), ["1"]);
    sqs.delete(10_000, "q.fifo", &first[0]).unwrap();
    sqs.assert_none_visible(14_999, "q.fifo");
    assert_eq!(sqs.receive_one(15_000, "q.fifo").body, "2");
}

#[test]
fn message_delay_is_rejected() {
    let sqs = sqs();
    let delayed = |seconds| QueueMessageToSend { delay_seconds: Some(seconds), ..message_in_group("g", "1") };
    let error = sqs.try_send(0, "q.fifo", delayed(1)).unwrap_err();
    assert!(matches!(error, Error::WrongQueueType { parameter: "DelaySeconds", .. }));
    sqs.send(0, "q.fifo", delayed(0));
}

#[test]
fn message_group_is_required() {
    let error = sqs().try_send(0, "q.fifo", message("1")).unwrap_err();
    assert!(matches!(error, Error::MissingParameter("MessageGroupId")));
}

#[test]
fn duplicate_returns_the_original_and_is_not_stored() {
    let sqs = sqs();
    let first = sqs.send(0, "q.fifo", message_with_id("g", "1", "id"));
    let second = sqs.send(DEDUPLICATION_WINDOW_MS - 1, "q.fifo", message_with_id("h", "other", "id"));
    assert_eq!(second.message_id, first.message_id);
    assert_eq!(second.sequence_number, first.sequence_number);
    assert_eq!(sqs.depth(0, "q.fifo"), (1, 0, 0));
}

#[test]
fn duplicates_do_not_extend_the_deduplication_window() {
    let sqs = sqs();
    let first = sqs.send(0, "q.fifo", message_with_id("g", "1", "id"));
    sqs.send(DEDUPLICATION_WINDOW_MS - 1, "q.fifo", message_with_id("g", "1", "id"));
    let later = sqs.send(DEDUPLICATION_WINDOW_MS, "q.fifo", message_with_id("g", "1", "id"));
    assert_ne!(later.message_id, first.message_id);
    assert_eq!(sqs.depth(DEDUPLICATION_WINDOW_MS, "q.fifo"), (2, 0, 0));
}

#[test]
fn duplicate_of_a_deleted_message_is_not_stored() {
    let sqs = sqs();
    sqs.send(0, "q.fifo", message_with_id("g", "1", "id"));
    let received = sqs.receive_one(0, "q.fifo");
    sqs.delete(0, "q.fifo", &received).unwrap();
    sqs.send(1, "q.fifo", message_with_id("g", "1", "id"));
    assert_eq!(sqs.depth(1, "q.fifo"), (0, 0, 0));
}

#[test]
fn content_based_deduplication_compares_bodies() {
    let sqs = sqs();
    sqs.send(0, "q.fifo", message_in_group("g", "same"));
    sqs.send(0, "q.fifo", message_in_group("h", "same"));
    sqs.send(0, "q.fifo", message_with_id("g", "same", "id"));
    sqs.send(0, "q.fifo", message_in_group("g", "other"));
    let received = sqs.receive(0, "q.fifo", 10);
    assert_eq!(bodies(&received), ["same", "same", "other"]);
    let hash = received[0].deduplication_id.as_deref().unwrap();
    assert_eq!(hash, "0967115f2813a3541eaef77de9d9d5773f1c0c04314b0bbfe4ff3b3b1c55b5d5");
    assert_eq!(received[1].deduplication_id.as_deref(), Some("id"));
}

#[test]
fn deduplication_id_is_required_unless_content_based() {
    let sqs = TestSqs::new(vec![QueueDefinition { content_based_deduplication: false, ..queue("q.fifo") }]);
    let error = sqs.try_send(0, "q.fifo", message_in_group("g", "1")).unwrap_err();
    assert!(matches!(error, Error::MissingDeduplicationId));
    sqs.send(0, "q.fifo", message_with_id("g", "1", "id"));
}

#[test]
fn deduplication_scope_can_be_the_message_group() {
    let sqs = TestSqs::new(vec![QueueDefinition { deduplication_per_group: true, ..queue("q.fifo") }]);
    for group in ["g", "h", "g"] {
        sqs.send(0, "q.fifo", message_with_id(group, group, "id"));
    }
    assert_eq!(bodies(&sqs.receive(0, "q.fifo", 10)), ["g", "h"]);
}

#[test]
fn deduplication_ids_of_queues_are_independent() {
    let sqs = TestSqs::new(vec![queue("q.fifo"), queue("other.fifo")]);
    sqs.send(0, "q.fifo", message_with_id("g", "1", "id"));
    sqs.send(0, "other.fifo", message_with_id("g", "1", "id"));
    assert_eq!(sqs.depth(0, "other.fifo"), (1, 0, 0));
}

#[test]
fn expired_message_unblocks_its_group() {
    let sqs = TestSqs::new(vec![QueueDefinition { retention_seconds: 60, ..queue("q.fifo") }]);
    sqs.send(0, "q.fifo", message_in_group("g", "1"));
    sqs.send(50_000, "q.fifo", message_in_group("g", "2"));
    sqs.receive_with_timeout(50_000, "q.fifo", 1, Some(600));
    sqs.assert_none_visible(59_999, "q.fifo");
    assert_eq!(sqs.receive_one(60_000, "q.fifo").body, "2");
}

#[test]
fn purged_group_accepts_new_messages() {
    let sqs = sqs();
    sqs.send(0, "q.fifo", message_in_group("g", "1"));
    sqs.receive_one(0, "q.fifo");
    sqs.engine.purge(&sqs.definitions["q.fifo"]).unwrap();
    sqs.send(0, "q.fifo", message_in_group("g", "2"));
    assert_eq!(sqs.receive_one(0, "q.fifo").body, "2");
}
