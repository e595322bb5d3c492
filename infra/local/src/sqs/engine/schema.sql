-- Times are milliseconds since 1970. `id` reflects the order in which messages were sent and is the FIFO sequence
-- number. AUTOINCREMENT guarantees that an id is never reused, because receipt handles depend on unique ids.
--
-- A receive searches by `due_at` only. In a standard queue, `due_at` equals `visible_at`. In a FIFO queue, only the
-- first message in a group has a `due_at`: the time at which this message and every received message in its group are
-- visible. For all other messages, it is NULL. See message_group.rs.
CREATE TABLE IF NOT EXISTS messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    queue TEXT NOT NULL,
    group_id TEXT,
    sent_at INTEGER NOT NULL,
    visible_at INTEGER NOT NULL,
    due_at INTEGER,
    receive_count INTEGER NOT NULL DEFAULT 0,
    first_received_at INTEGER,
    message_id TEXT NOT NULL,
    deduplication_id TEXT,
    md5 TEXT NOT NULL,
    body TEXT NOT NULL
) STRICT;

CREATE INDEX IF NOT EXISTS messages_due ON messages (queue, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS messages_sent ON messages (queue, sent_at);
CREATE INDEX IF NOT EXISTS messages_group ON messages (queue, group_id) WHERE group_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS messages_received ON messages (queue, group_id, visible_at)
    WHERE receive_count > 0;

-- Recent sends to FIFO queues. A row remains when its message is deleted, so that later duplicates are still detected.
-- `scope` is the message group, or empty if duplicates are detected across the whole queue.
CREATE TABLE IF NOT EXISTS deduplication (
    queue TEXT NOT NULL,
    scope TEXT NOT NULL,
    deduplication_id TEXT NOT NULL,
    sent_at INTEGER NOT NULL,
    message_id TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    PRIMARY KEY (queue, scope, deduplication_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX IF NOT EXISTS deduplication_sent ON deduplication (sent_at);
