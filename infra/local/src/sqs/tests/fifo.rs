//! FIFO queues: order in groups, and deduplication.

use super::*;

const FIVE_MINUTES: u64 = 300_000;

fn bench() -> Bench {
    Bench::new(vec![queue("q.fifo")])
}

fn once(group: &str, body: &str, id: &str) -> Outgoing {
    Outgoing { deduplication_id: Some(id.to_owned()), ..grouped(group, body) }
}

#[test]
fn a_group_is_received_in_the_order_of_sending() {
    let bench = bench();
    for body in ["1", "2", "3"] {
        bench.send(0, "q.fifo", grouped("g", body));
    }
    for body in ["1", "2", "3"] {
        let received = bench.receive_one(0, "q.fifo");
        assert_eq!(received.body, body);
        bench.delete(0, "q.fifo", &received).unwrap();
    }
    bench.assert_nothing(DAY, "q.fifo");
}

#[test]
fn nothing_else_of_a_group_is_received_while_one_is_in_flight() {
    let bench = bench();
    bench.send(0, "q.fifo", grouped("g", "1"));
    let first = bench.receive_one(0, "q.fifo");
    bench.send(1, "q.fifo", grouped("g", "2"));
    bench.assert_nothing(29_999, "q.fifo");
    bench.delete(29_999, "q.fifo", &first).unwrap();
    assert_eq!(bench.receive_one(29_999, "q.fifo").body, "2");
}

#[test]
fn another_group_is_not_held_up() {
    let bench = bench();
    for (group, body) in [("g", "g1"), ("g", "g2"), ("h", "h1")] {
        bench.send(0, "q.fifo", grouped(group, body));
    }
    assert_eq!(bench.receive_one(0, "q.fifo").body, "g1");
    assert_eq!(bench.receive_one(0, "q.fifo").body, "h1");
    bench.assert_nothing(0, "q.fifo");
}

#[test]
fn after_a_time_out_the_same_message_comes_first_again() {
    let bench = bench();
    bench.send(0, "q.fifo", grouped("g", "1"));
    bench.send(0, "q.fifo", grouped("g", "2"));
    bench.receive_one(0, "q.fifo");
    let again = bench.receive_one(30_000, "q.fifo");
    assert_eq!((again.body.as_str(), again.receive_count), ("1", 2));
}

#[test]
fn a_batch_takes_a_group_in_order_and_then_turns_to_the_next() {
    let bench = bench();
    for (group, body) in [("g", "g1"), ("h", "h1"), ("g", "g2"), ("g", "g3")] {
        bench.send(0, "q.fifo", grouped(group, body));
    }
    assert_eq!(bodies(&bench.receive(0, "q.fifo", 10)), ["g1", "g2", "g3", "h1"]);
    assert_eq!(bodies(&bench.receive(30_000, "q.fifo", 2)), ["g1", "g2"]);
    assert_eq!(bodies(&bench.receive(30_000, "q.fifo", 2)), ["h1"]);
}

#[test]
fn a_group_waits_for_every_message_of_a_batch() {
    let bench = bench();
    for body in ["1", "2", "3"] {
        bench.send(0, "q.fifo", grouped("g", body));
    }
    let batch = bench.receive(0, "q.fifo", 2);
    bench.delete(0, "q.fifo", &batch[0]).unwrap();
    bench.assert_nothing(29_999, "q.fifo");
    bench.delete(29_999, "q.fifo", &batch[1]).unwrap();
    assert_eq!(bench.receive_one(29_999, "q.fifo").body, "3");
}

#[test]
fn a_message_put_back_waits_for_the_rest_of_its_batch() {
    let bench = bench();
    for body in ["1", "2"] {
        bench.send(0, "q.fifo", grouped("g", body));
    }
    let batch = bench.receive(0, "q.fifo", 2);
    bench.change(0, "q.fifo", &batch[0], 0).unwrap();
    bench.assert_nothing(29_999, "q.fifo");
    bench.change(29_999, "q.fifo", &batch[1], 0).unwrap();
    assert_eq!(bodies(&bench.receive(29_999, "q.fifo", 2)), ["1", "2"]);
}

#[test]
fn an_expired_handle_cannot_delete() {
    let bench = bench();
    bench.send(0, "q.fifo", grouped("g", "1"));
    let first = bench.receive_one(0, "q.fifo");
    let refused = bench.delete(30_000, "q.fifo", &first).unwrap_err();
    assert!(matches!(refused, Error::ReceiptHandleExpired(_)));
    let second = bench.receive_one(30_000, "q.fifo");
    let refused = bench.delete(30_000, "q.fifo", &first).unwrap_err();
    assert!(matches!(refused, Error::ReceiptHandleExpired(_)));
    bench.delete(30_000, "q.fifo", &second).unwrap();
    bench.delete(30_000, "q.fifo", &second).unwrap();
}

#[test]
fn sequence_numbers_have_twenty_digits_and_grow() {
    let bench = bench();
    let sent = ["1", "2"].map(|body| bench.send(0, "q.fifo", grouped("g", body)));
    let numbers = sent.map(|sent| sent.sequence_number.unwrap());
    assert!(numbers.iter().all(|number| number.len() == 20));
    assert!(numbers[0] < numbers[1]);
    let received = bench.receive_one(0, "q.fifo");
    assert_eq!(received.sequence_number.as_ref(), Some(&numbers[0]));
}

#[test]
fn the_queues_own_delay_keeps_the_order() {
    let bench = Bench::new(vec![QueueDefinition { delay_seconds: 10, ..queue("q.fifo") }]);
    bench.send(0, "q.fifo", grouped("g", "1"));
    bench.send(5_000, "q.fifo", grouped("g", "2"));
    bench.assert_nothing(9_999, "q.fifo");
    let first = bench.receive(10_000, "q.fifo", 10);
    assert_eq!(bodies(&first), ["1"]);
    bench.delete(10_000, "q.fifo", &first[0]).unwrap();
    bench.assert_nothing(14_999, "q.fifo");
    assert_eq!(bench.receive_one(15_000, "q.fifo").body, "2");
}

#[test]
fn a_message_cannot_have_its_own_delay() {
    let bench = bench();
    let delayed = |seconds| Outgoing { delay_seconds: Some(seconds), ..grouped("g", "1") };
    let refused = bench.try_send(0, "q.fifo", delayed(1)).unwrap_err();
    assert!(matches!(refused, Error::WrongQueueType { parameter: "DelaySeconds", .. }));
    bench.send(0, "q.fifo", delayed(0));
}

#[test]
fn a_group_is_required() {
    let refused = bench().try_send(0, "q.fifo", message("1")).unwrap_err();
    assert!(matches!(refused, Error::MissingParameter("MessageGroupId")));
}

#[test]
fn a_duplicate_is_answered_like_the_first_and_not_stored() {
    let bench = bench();
    let first = bench.send(0, "q.fifo", once("g", "1", "id"));
    let second = bench.send(FIVE_MINUTES - 1, "q.fifo", once("h", "other", "id"));
    assert_eq!(second.message_id, first.message_id);
    assert_eq!(second.sequence_number, first.sequence_number);
    assert_eq!(bench.depth(0, "q.fifo"), (1, 0, 0));
}

#[test]
fn five_minutes_after_the_first_the_id_is_free_again_however_often_it_was_repeated() {
    let bench = bench();
    let first = bench.send(0, "q.fifo", once("g", "1", "id"));
    bench.send(FIVE_MINUTES - 1, "q.fifo", once("g", "1", "id"));
    let later = bench.send(FIVE_MINUTES, "q.fifo", once("g", "1", "id"));
    assert_ne!(later.message_id, first.message_id);
    assert_eq!(bench.depth(FIVE_MINUTES, "q.fifo"), (2, 0, 0));
}

#[test]
fn a_duplicate_of_a_deleted_message_is_one() {
    let bench = bench();
    bench.send(0, "q.fifo", once("g", "1", "id"));
    let received = bench.receive_one(0, "q.fifo");
    bench.delete(0, "q.fifo", &received).unwrap();
    bench.send(1, "q.fifo", once("g", "1", "id"));
    assert_eq!(bench.depth(1, "q.fifo"), (0, 0, 0));
}

#[test]
fn the_body_is_the_id_where_the_queue_says_so() {
    let bench = bench();
    bench.send(0, "q.fifo", grouped("g", "same"));
    bench.send(0, "q.fifo", grouped("h", "same"));
    bench.send(0, "q.fifo", once("g", "same", "id"));
    bench.send(0, "q.fifo", grouped("g", "other"));
    let received = bench.receive(0, "q.fifo", 10);
    assert_eq!(bodies(&received), ["same", "same", "other"]);
    let hash = received[0].deduplication_id.as_deref().unwrap();
    assert_eq!(hash, "0967115f2813a3541eaef77de9d9d5773f1c0c04314b0bbfe4ff3b3b1c55b5d5");
    assert_eq!(received[1].deduplication_id.as_deref(), Some("id"));
}

#[test]
fn without_an_id_and_without_content_based_deduplication_a_message_is_refused() {
    let bench = Bench::new(vec![QueueDefinition { content_based_deduplication: false, ..queue("q.fifo") }]);
    let refused = bench.try_send(0, "q.fifo", grouped("g", "1")).unwrap_err();
    assert!(matches!(refused, Error::NoDeduplicationId));
    bench.send(0, "q.fifo", once("g", "1", "id"));
}

#[test]
fn ids_are_compared_within_the_group_where_the_queue_says_so() {
    let bench = Bench::new(vec![QueueDefinition { deduplication_per_group: true, ..queue("q.fifo") }]);
    for group in ["g", "h", "g"] {
        bench.send(0, "q.fifo", once(group, group, "id"));
    }
    assert_eq!(bodies(&bench.receive(0, "q.fifo", 10)), ["g", "h"]);
}

#[test]
fn ids_are_compared_within_one_queue() {
    let bench = Bench::new(vec![queue("q.fifo"), queue("other.fifo")]);
    bench.send(0, "q.fifo", once("g", "1", "id"));
    bench.send(0, "other.fifo", once("g", "1", "id"));
    assert_eq!(bench.depth(0, "other.fifo"), (1, 0, 0));
}

#[test]
fn a_group_moves_on_when_the_retention_of_its_first_message_ends() {
    let bench = Bench::new(vec![QueueDefinition { retention_seconds: 60, ..queue("q.fifo") }]);
    bench.send(0, "q.fifo", grouped("g", "1"));
    bench.send(50_000, "q.fifo", grouped("g", "2"));
    bench.receive_for(50_000, "q.fifo", 1, Some(600));
    bench.assert_nothing(59_999, "q.fifo");
    assert_eq!(bench.receive_one(60_000, "q.fifo").body, "2");
}

#[test]
fn a_purged_group_starts_anew() {
    let bench = bench();
    bench.send(0, "q.fifo", grouped("g", "1"));
    bench.receive_one(0, "q.fifo");
    bench.engine.purge(&bench.queues["q.fifo"]).unwrap();
    bench.send(0, "q.fifo", grouped("g", "2"));
    assert_eq!(bench.receive_one(0, "q.fifo").body, "2");
}
