use super::*;

fn sqs() -> TestSqs {
    TestSqs::new(vec![
        QueueDefinition { redrive_policy: redrive_policy("dead", 2), ..queue("q") },
        queue("dead"),
        QueueDefinition { redrive_policy: redrive_policy("dead.fifo", 2), ..queue("q.fifo") },
        queue("dead.fifo"),
    ])
}

#[test]
fn receive_moves_a_message_at_its_max_receive_count() {
    let sqs = sqs();
    let sent = sqs.send(0, "q", message("a"));
    sqs.receive_one(0, "q");
    sqs.receive_one(30_000, "q");
    assert_eq!(sqs.depth(60_000, "q"), (1, 0, 0));
    sqs.assert_none_visible(60_000, "q");
    assert_eq!(sqs.depth(60_000, "q"), (0, 0, 0));
    let dead = sqs.receive_one(60_000, "dead");
    assert_eq!(dead.message_id, sent.message_id);
    assert_eq!(dead.body, "a");
    assert_eq!((dead.sent_at_ms, dead.receive_count), (0, 3));
}

#[test]
fn same_receive_returns_the_message_after_a_moved_one() {
    let sqs = sqs();
    sqs.send(0, "q", message("bad"));
    sqs.receive_one(0, "q");
    sqs.receive_one(30_000, "q");
    sqs.send(60_000, "q", message("good"));
    assert_eq!(bodies(&sqs.receive(60_000, "q", 1)), ["good"]);
    assert_eq!(bodies(&sqs.receive(60_000, "dead", 10)), ["bad"]);
}

#[test]
fn receipt_handle_is_ignored_after_the_move() {
    let sqs = sqs();
    sqs.send(0, "q", message("a"));
    sqs.receive_one(0, "q");
    let last = sqs.receive_one(30_000, "q");
    sqs.assert_none_visible(60_000, "q");
    sqs.delete(60_000, "q", &last).unwrap();
    assert_eq!(sqs.depth(60_000, "dead"), (1, 0, 0));
}

#[test]
fn queue_without_redrive_policy_keeps_redelivering() {
    let sqs = sqs();
    sqs.send(0, "q", message("a"));
    sqs.receive_one(0, "q");
    sqs.receive_one(30_000, "q");
    sqs.assert_none_visible(60_000, "q");
    for round in 2..5 {
        assert_eq!(sqs.receive_one(round * 30_000, "dead").body, "a");
    }
}

#[test]
fn move_resets_the_sent_time_in_fifo_queues_only() {
    for (name, dead, sent_at_ms) in [("q", "dead", 0), ("q.fifo", "dead.fifo", 60_000)] {
        let sqs = sqs();
        sqs.send(0, name, message_in_group("g", "a"));
        sqs.receive_one(0, name);
        sqs.receive_one(30_000, name);
        sqs.assert_none_visible(60_000, name);
        assert_eq!(sqs.receive_one(60_000, dead).sent_at_ms, sent_at_ms);
    }
}

#[test]
fn fifo_group_keeps_its_order_in_the_dead_letter_queue() {
    let sqs = sqs();
    for body in ["1", "2", "3"] {
        sqs.send(0, "q.fifo", message_in_group("g", body));
    }
    sqs.receive(0, "q.fifo", 2);
    sqs.receive(30_000, "q.fifo", 2);
    assert_eq!(bodies(&sqs.receive(60_000, "q.fifo", 10)), ["3"]);
    let dead = sqs.receive_one(60_000, "dead.fifo");
    assert_eq!((dead.body.as_str(), dead.group.as_deref()), ("1", Some("g")));
    sqs.assert_none_visible(60_000, "dead.fifo");
    sqs.delete(60_000, "dead.fifo", &dead).unwrap();
    assert_eq!(sqs.receive_one(60_000, "dead.fifo").body, "2");
}

#[test]
fn batch_ends_before_an_exhausted_message() {
    let sqs = sqs();
    sqs.send(0, "q.fifo", message_in_group("g", "1"));
    sqs.send(0, "q.fifo", message_in_group("g", "2"));
    let both = sqs.receive_with_timeout(0, "q.fifo", 2, Some(0));
    sqs.receive_with_timeout(0, "q.fifo", 2, Some(0));
    assert_eq!(bodies(&both), ["1", "2"]);
    sqs.assert_none_visible(0, "q.fifo");
    assert_eq!(bodies(&sqs.receive(0, "dead.fifo", 10)), ["1", "2"]);
}
