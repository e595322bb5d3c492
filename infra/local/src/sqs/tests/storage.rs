//! What survives the process.

use super::*;

#[test]
fn a_restart_keeps_messages_visibility_order_and_deduplication() {
    let folder = tempfile::tempdir().unwrap();
    let storage = Storage::File(folder.path().join("queues.sqlite"));
    let before = Bench::open(&storage, vec![queue("q.fifo")]);
    for (group, body) in [("g", "g1"), ("g", "g2"), ("h", "h1")] {
        before.send(0, "q.fifo", grouped(group, body));
    }
    let in_flight = before.receive_one(0, "q.fifo");
    // Dropped without a goodbye, as a killed process would: nothing is flushed at the end.
    std::mem::forget(before);

    let after = Bench::open(&storage, vec![queue("q.fifo")]);
    assert_eq!(bodies(&after.receive(1, "q.fifo", 10)), ["h1"]);
    after.send(1, "q.fifo", grouped("g", "g2"));
    after.delete(1, "q.fifo", &in_flight).unwrap();
    let second = after.receive_one(1, "q.fifo");
    assert_eq!(second.body, "g2");
    after.delete(1, "q.fifo", &second).unwrap();
    assert_eq!(after.depth(1, "q.fifo"), (0, 1, 0));
}

#[test]
fn a_new_definition_applies_to_old_messages() {
    let folder = tempfile::tempdir().unwrap();
    let storage = Storage::File(folder.path().join("queues.sqlite"));
    let before = Bench::open(&storage, vec![queue("q")]);
    before.send(0, "q", message("a"));
    drop(before);

    let shorter = QueueDefinition { visibility_seconds: 1, retention_seconds: 60, ..queue("q") };
    let after = Bench::open(&storage, vec![shorter]);
    after.receive_one(0, "q");
    assert_eq!(after.receive_one(1_000, "q").receive_count, 2);
    after.assert_nothing(60_000, "q");
}
