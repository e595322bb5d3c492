//! Tests of how the queues behave. The `now_ms` argument of the `TestSqs` methods is the current time in milliseconds
//! since `START_MS`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod definition_validation;
mod fifo;
mod fifo_model;
mod long_polling;
mod redrive;
mod standard;
mod storage;

use std::collections::BTreeMap;

use super::engine::{Engine, QueueDatabaseLocation, ReceiveRequest};
use super::{
    Error, Message, QueueDefinition, QueueDepth, QueueMessageToSend, RedrivePolicy, SentMessage, queue_definition,
};

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// The time at which each test starts: an arbitrary day long after 1970.
const START_MS: u64 = 20_000 * DAY_MS;

/// Returns a queue with the AWS default properties. FIFO queues have content-based deduplication.
pub(super) fn queue(name: &str) -> QueueDefinition {
    QueueDefinition {
        name: name.to_owned(),
        delay_seconds: 0,
        visibility_timeout_seconds: 30,
        retention_seconds: 345_600,
        content_based_deduplication: name.ends_with(".fifo"),
        deduplication_per_group: false,
        redrive_policy: None,
    }
}

fn redrive_policy(dead_letter_queue: &str, max_receive_count: u32) -> Option<RedrivePolicy> {
    Some(RedrivePolicy { dead_letter_queue: dead_letter_queue.to_owned(), max_receive_count })
}

pub(super) fn message(body: &str) -> QueueMessageToSend {
    QueueMessageToSend { body: body.to_owned(), ..QueueMessageToSend::default() }
}

fn message_in_group(group: &str, body: &str) -> QueueMessageToSend {
    QueueMessageToSend { group: Some(group.to_owned()), ..message(body) }
}

fn bodies(messages: &[Message]) -> Vec<&str> {
    messages.iter().map(|m| m.body.as_str()).collect()
}

struct TestSqs {
    engine: Engine,
    definitions: BTreeMap<String, QueueDefinition>,
}

impl TestSqs {
    fn new(definitions: Vec<QueueDefinition>) -> Self {
        Self::open(&QueueDatabaseLocation::Memory, definitions)
    }

    fn open(storage: &QueueDatabaseLocation, definitions: Vec<QueueDefinition>) -> Self {
        Self { engine: Engine::open(storage).unwrap(), definitions: queue_definition::by_name(definitions).unwrap() }
    }

    fn send(&self, now_ms: u64, queue: &str, message: QueueMessageToSend) -> SentMessage {
        self.try_send(now_ms, queue, message).unwrap()
    }

    fn try_send(&self, now_ms: u64, queue: &str, message: QueueMessageToSend) -> Result<SentMessage, Error> {
        self.engine.send(&self.definitions[queue], message, START_MS + now_ms)
    }

    fn receive(&self, now_ms: u64, queue: &str, max_messages: u32) -> Vec<Message> {
        self.receive_with_timeout(now_ms, queue, max_messages, None)
    }

    /// Returns messages whose times are relative to `START_MS`.
    fn receive_with_timeout(
        &self,
        now_ms: u64,
        queue: &str,
        max_messages: u32,
        visibility_timeout_seconds: Option<u32>,
    ) -> Vec<Message> {
        let request = ReceiveRequest { max_messages, visibility_timeout_seconds };
        let queue = &self.definitions[queue];
        let mut messages = self.engine.receive(queue, request, START_MS + now_ms).unwrap().messages;
        for message in &mut messages {
            message.sent_at_ms -= START_MS;
            message.first_received_at_ms -= START_MS;
        }
        messages
    }

    fn receive_one(&self, now_ms: u64, queue: &str) -> Message {
        let mut messages = self.receive(now_ms, queue, 1);
        messages.pop().expect("a visible message")
    }

    fn assert_none_visible(&self, now_ms: u64, queue: &str) {
        assert_eq!(bodies(&self.receive(now_ms, queue, 10)), [""; 0], "at {now_ms}");
    }

    fn delete(&self, now_ms: u64, queue: &str, message: &Message) -> Result<(), Error> {
        let queue = &self.definitions[queue];
        self.engine.delete(queue, &message.receipt_handle, START_MS + now_ms)
    }

    fn change_visibility(&self, now_ms: u64, queue: &str, message: &Message, seconds: u32) -> Result<(), Error> {
        let handle = &message.receipt_handle;
        self.engine.change_visibility(&self.definitions[queue], handle, seconds, START_MS + now_ms)
    }

    fn next_due_ms(&self, queue: &str) -> Option<u64> {
        let due_at_ms = self.engine.next_due_ms(&self.definitions[queue]).unwrap();
        due_at_ms.map(|due_at_ms| due_at_ms - START_MS)
    }

    /// Returns the numbers of visible, in-flight and delayed messages.
    fn depth(&self, now_ms: u64, queue: &str) -> (u64, u64, u64) {
        let depth = self.engine.depth(&self.definitions[queue], START_MS + now_ms).unwrap();
        let QueueDepth { visible, in_flight, delayed } = depth;
        (visible, in_flight, delayed)
    }
}
