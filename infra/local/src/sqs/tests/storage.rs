//! Tests that messages persist across restarts, and that a changed queue definition applies to them.

use super::*;

#[test]
fn restart_preserves_messages_visibility_and_deduplication() {
    let folder = tempfile::tempdir().unwrap();
    let storage = QueueDatabaseLocation::File(folder.path().join("queues.sqlite"));
    let before = TestSqs::open(&storage, vec![queue("q.fifo")]);
    for (group, body) in [("g", "g1"), ("g", "g2"), ("h", "h1")] {
        before.send(0, "q.fifo", message_in_group(group, body));
    }
    let in_flight = before.receive_one(0, "q.fifo");
    // Simulates a killed process: no destructor runs, so nothing is flushed.
    std::mem::forget(before);

    let after = TestSqs::open(&storage, vec![queue("q.fifo")]);
    assert_eq!(bodies(&after.receive(1, "q.fifo", 10)), ["h1"]);
    after.send(1, "q.fifo", message_in_group("g", "g2"));
    after.delete(1, "q.fifo", &in_flight).unwrap();
    let second = after.receive_one(1, "q.fifo");
    assert_eq!(second.body, "g2");
    after.delete(1, "q.fifo", &second).unwrap();
    assert_eq!(after.depth(1, "q.fifo"), (0, 1, 0));
}

#[test]
fn changed_definition_applies_to_stored_messages() {
    let folder = tempfile::tempdir().unwrap();
    let storage = QueueDatabaseLocation::File(folder.path().join("queues.sqlite"));
    let before = TestSqs::open(&storage, vec![queue("q")]);
    before.send(0, "q", message("a"));
    drop(before);

    let shorter = QueueDefinition { visibility_timeout_seconds: 1, retention_seconds: 60, ..queue("q") };
    let after = TestSqs::open(&storage, vec![shorter]);
    after.receive_one(0, "q");
    assert_eq!(after.receive_one(1_000, "q").receive_count, 2);
    after.assert_none_visible(60_000, "q");
}
