//! The rules of the queues, one test a rule. The engine's time is an argument: the first number of
//! every call is the moment in milliseconds.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod dead_letter;
mod definitions;
mod fifo;
mod random;
mod standard;
mod storage;
mod waiting;

use std::collections::BTreeMap;

use super::engine::{Engine, Storage, Wanted};
use super::{DeadLetter, Depth, Error, Message, Outgoing, QueueDefinition, SentMessage, definition};

const DAY: u64 = 24 * 60 * 60 * 1000;

/// The benches count moments from here; some day long after 1970.
const START: u64 = 20_000 * DAY;

/// A queue as AWS makes it when the template says nothing more.
pub(super) fn queue(name: &str) -> QueueDefinition {
    QueueDefinition {
        name: name.to_owned(),
        delay_seconds: 0,
        visibility_seconds: 30,
        retention_seconds: 345_600,
        content_based_deduplication: name.ends_with(".fifo"),
        deduplication_per_group: false,
        dead_letter: None,
    }
}

fn dead_letter(queue: &str, max_receives: u32) -> Option<DeadLetter> {
    Some(DeadLetter { queue: queue.to_owned(), max_receives })
}

pub(super) fn message(body: &str) -> Outgoing {
    Outgoing { body: body.to_owned(), ..Outgoing::default() }
}

pub(super) fn grouped(group: &str, body: &str) -> Outgoing {
    Outgoing { group: Some(group.to_owned()), ..message(body) }
}

fn bodies(messages: &[Message]) -> Vec<&str> {
    messages.iter().map(|m| m.body.as_str()).collect()
}

/// An engine in memory and its queues by name.
struct Bench {
    engine: Engine,
    queues: BTreeMap<String, QueueDefinition>,
}

impl Bench {
    fn new(definitions: Vec<QueueDefinition>) -> Self {
        Self::open(&Storage::Memory, definitions)
    }

    fn open(storage: &Storage, definitions: Vec<QueueDefinition>) -> Self {
        Self { engine: Engine::open(storage).unwrap(), queues: definition::by_name(definitions).unwrap() }
    }

    fn send(&self, now: u64, queue: &str, outgoing: Outgoing) -> SentMessage {
        self.try_send(now, queue, outgoing).unwrap()
    }

    fn try_send(&self, now: u64, queue: &str, outgoing: Outgoing) -> Result<SentMessage, Error> {
        self.engine.send(&self.queues[queue], outgoing, START + now)
    }

    fn receive(&self, now: u64, queue: &str, max: u32) -> Vec<Message> {
        self.receive_for(now, queue, max, None)
    }

    fn receive_for(&self, now: u64, queue: &str, max: u32, seconds: Option<u32>) -> Vec<Message> {
        let wanted = Wanted { max, visibility_seconds: seconds };
        let queue = &self.queues[queue];
        let mut messages = self.engine.receive(queue, wanted, START + now).unwrap().messages;
        for message in &mut messages {
            message.sent_at_ms -= START;
            message.first_received_at_ms -= START;
        }
        messages
    }

    /// The one message that must be there.
    fn receive_one(&self, now: u64, queue: &str) -> Message {
        let mut messages = self.receive(now, queue, 1);
        messages.pop().expect("a message that can be received")
    }

    fn assert_nothing(&self, now: u64, queue: &str) {
        assert_eq!(bodies(&self.receive(now, queue, 10)), [""; 0], "at {now}");
    }

    fn delete(&self, now: u64, queue: &str, message: &Message) -> Result<(), Error> {
        let queue = &self.queues[queue];
        self.engine.delete(queue, &message.receipt_handle, START + now)
    }

    fn change(&self, now: u64, queue: &str, message: &Message, seconds: u32) -> Result<(), Error> {
        let handle = &message.receipt_handle;
        self.engine.change_visibility(&self.queues[queue], handle, seconds, START + now)
    }

    fn next_due(&self, queue: &str) -> Option<u64> {
        let due = self.engine.next_due(&self.queues[queue]).unwrap();
        due.map(|moment| moment - START)
    }

    fn depth(&self, now: u64, queue: &str) -> (u64, u64, u64) {
        let Depth { visible, in_flight, delayed } = self.engine.depth(&self.queues[queue], START + now).unwrap();
        (visible, in_flight, delayed)
    }
}
