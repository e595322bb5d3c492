//! Redrive to dead-letter queues.

use super::*;

fn bench() -> Bench {
    Bench::new(vec![
        QueueDefinition { dead_letter: dead_letter("dead", 2), ..queue("q") },
        queue("dead"),
        QueueDefinition { dead_letter: dead_letter("dead.fifo", 2), ..queue("q.fifo") },
        queue("dead.fifo"),
    ])
}

#[test]
fn a_message_moves_when_it_would_be_received_once_more() {
    let bench = bench();
    let sent = bench.send(0, "q", message("a"));
    bench.receive_one(0, "q");
    bench.receive_one(30_000, "q");
    assert_eq!(bench.depth(60_000, "q"), (1, 0, 0));
    bench.assert_nothing(60_000, "q");
    assert_eq!(bench.depth(60_000, "q"), (0, 0, 0));
    let dead = bench.receive_one(60_000, "dead");
    assert_eq!(dead.message_id, sent.message_id);
    assert_eq!(dead.body, "a");
    assert_eq!((dead.sent_at_ms, dead.receive_count), (0, 3));
}

#[test]
fn what_comes_behind_is_received_in_the_same_call() {
    let bench = bench();
    bench.send(0, "q", message("bad"));
    bench.receive_one(0, "q");
    bench.receive_one(30_000, "q");
    bench.send(60_000, "q", message("good"));
    assert_eq!(bodies(&bench.receive(60_000, "q", 1)), ["good"]);
    assert_eq!(bodies(&bench.receive(60_000, "dead", 10)), ["bad"]);
}

#[test]
fn a_handle_from_before_the_move_does_nothing_any_more() {
    let bench = bench();
    bench.send(0, "q", message("a"));
    bench.receive_one(0, "q");
    let last = bench.receive_one(30_000, "q");
    bench.assert_nothing(60_000, "q");
    bench.delete(60_000, "q", &last).unwrap();
    assert_eq!(bench.depth(60_000, "dead"), (1, 0, 0));
}

#[test]
fn a_dead_letter_queue_without_its_own_keeps_a_message_coming() {
    let bench = bench();
    bench.send(0, "q", message("a"));
    bench.receive_one(0, "q");
    bench.receive_one(30_000, "q");
    bench.assert_nothing(60_000, "q");
    for round in 2..5 {
        assert_eq!(bench.receive_one(round * 30_000, "dead").body, "a");
    }
}

#[test]
fn a_standard_message_keeps_its_age_and_a_fifo_message_is_young_again() {
    for (name, dead, sent_at_ms) in [("q", "dead", 0), ("q.fifo", "dead.fifo", 60_000)] {
        let bench = bench();
        bench.send(0, name, grouped("g", "a"));
        bench.receive_one(0, name);
        bench.receive_one(30_000, name);
        bench.assert_nothing(60_000, name);
        assert_eq!(bench.receive_one(60_000, dead).sent_at_ms, sent_at_ms);
    }
}

#[test]
fn a_fifo_group_goes_on_behind_a_dead_message_and_keeps_its_order_there_too() {
    let bench = bench();
    for body in ["1", "2", "3"] {
        bench.send(0, "q.fifo", grouped("g", body));
    }
    bench.receive(0, "q.fifo", 2);
    bench.receive(30_000, "q.fifo", 2);
    assert_eq!(bodies(&bench.receive(60_000, "q.fifo", 10)), ["3"]);
    let dead = bench.receive_one(60_000, "dead.fifo");
    assert_eq!((dead.body.as_str(), dead.group.as_deref()), ("1", Some("g")));
    bench.assert_nothing(60_000, "dead.fifo");
    bench.delete(60_000, "dead.fifo", &dead).unwrap();
    assert_eq!(bench.receive_one(60_000, "dead.fifo").body, "2");
}

#[test]
fn a_batch_ends_before_a_message_that_is_on_its_way_to_the_dead_letter_queue() {
    let bench = bench();
    bench.send(0, "q.fifo", grouped("g", "1"));
    bench.send(0, "q.fifo", grouped("g", "2"));
    let both = bench.receive_for(0, "q.fifo", 2, Some(0));
    bench.receive_for(0, "q.fifo", 2, Some(0));
    assert_eq!(bodies(&both), ["1", "2"]);
    bench.assert_nothing(0, "q.fifo");
    assert_eq!(bodies(&bench.receive(0, "dead.fifo", 10)), ["1", "2"]);
}
