//! The engine with what it lacks: queues by name, a clock, a lock, and receivers that wait.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::sync::futures::Notified;

use super::engine::{Engine, Wanted};
use super::{Depth, Error, Message, Outgoing, QueueDefinition, SentMessage};

/// Milliseconds since 1970.
pub(super) type Clock = Box<dyn Fn() -> u64 + Send + Sync>;

pub(super) struct Service {
    queues: BTreeMap<String, Queue>,
    /// SQLite calls take microseconds, so the lock is taken on the async threads.
    engine: Mutex<Engine>,
    clock: Clock,
}

struct Queue {
    definition: QueueDefinition,
    /// Rung after every change that may concern a waiting receiver.
    bell: Notify,
}

impl Service {
    pub(super) fn new(engine: Engine, definitions: BTreeMap<String, QueueDefinition>, clock: Clock) -> Self {
        let queue = |definition| Queue { definition, bell: Notify::new() };
        Self {
            queues: definitions.into_iter().map(|(name, definition)| (name, queue(definition))).collect(),
            engine: Mutex::new(engine),
            clock,
        }
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &String> {
        self.queues.keys()
    }

    pub(super) fn definition(&self, queue: &str) -> Result<&QueueDefinition, Error> {
        Ok(&self.queue(queue)?.definition)
    }

    pub(super) fn send(&self, queue: &str, outgoing: Outgoing) -> Result<SentMessage, Error> {
        let queue = self.queue(queue)?;
        let sent = self.engine().send(&queue.definition, outgoing, self.now_ms())?;
        queue.bell.notify_waiters();
        Ok(sent)
    }

    /// Waits for messages as long as it is polled; the caller sets the limit.
    pub(super) async fn receive(&self, queue: &str, wanted: Wanted) -> Result<Vec<Message>, Error> {
        let queue = self.queue(queue)?;
        loop {
            // Listening starts before the look, or a message sent in between would not be heard of.
            let ring = queue.bell.notified();
            let messages = self.receive_now(queue, wanted)?;
            if !messages.is_empty() {
                return Ok(messages);
            }
            let due = self.engine().next_due(&queue.definition)?;
            self.wait(ring, due).await;
        }
    }

    fn receive_now(&self, queue: &Queue, wanted: Wanted) -> Result<Vec<Message>, Error> {
        let received = self.engine().receive(&queue.definition, wanted, self.now_ms())?;
        // Other receivers sleep until a moment that this receive may have brought forward.
        if !received.messages.is_empty() || received.dead_lettered {
            queue.bell.notify_waiters();
        }
        if let Some(dead_letter) = &queue.definition.dead_letter
            && received.dead_lettered
        {
            self.queue(&dead_letter.queue)?.bell.notify_waiters();
        }
        Ok(received.messages)
    }

    async fn wait(&self, ring: Notified<'_>, due: Option<u64>) {
        let Some(due) = due else {
            return ring.await;
        };
        let remaining = due.saturating_sub(self.now_ms());
        tokio::select! {
            () = ring => {}
            () = tokio::time::sleep(Duration::from_millis(remaining)) => {}
        }
    }

    pub(super) fn delete(&self, queue: &str, receipt_handle: &str) -> Result<(), Error> {
        let queue = self.queue(queue)?;
        self.engine().delete(&queue.definition, receipt_handle, self.now_ms())?;
        queue.bell.notify_waiters();
        Ok(())
    }

    pub(super) fn change_visibility(&self, queue: &str, receipt_handle: &str, seconds: u32) -> Result<(), Error> {
        let queue = self.queue(queue)?;
        self.engine().change_visibility(&queue.definition, receipt_handle, seconds, self.now_ms())?;
        queue.bell.notify_waiters();
        Ok(())
    }

    pub(super) fn purge(&self, queue: &str) -> Result<(), Error> {
        self.engine().purge(self.definition(queue)?)
    }

    pub(super) fn depth(&self, queue: &str) -> Result<Depth, Error> {
        self.engine().depth(self.definition(queue)?, self.now_ms())
    }

    fn queue(&self, name: &str) -> Result<&Queue, Error> {
        self.queues.get(name).ok_or_else(|| Error::QueueDoesNotExist(name.to_owned()))
    }

    fn now_ms(&self) -> u64 {
        (self.clock)()
    }

    /// A panic while the lock was held has rolled its transaction back, so the engine is still
    /// sound.
    fn engine(&self) -> MutexGuard<'_, Engine> {
        self.engine.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
