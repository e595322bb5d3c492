//! The engine for concurrent callers. It finds queues by name, adds a clock and a lock, and makes receive calls wait
//! for messages (long polling).

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio::sync::futures::Notified;

use super::engine::{Engine, ReceiveRequest};
use super::{Error, Message, QueueDefinition, QueueDepth, QueueMessageToSend, SentMessage};
use crate::clock::Clock;

pub(super) struct AsyncEngine {
    queues: BTreeMap<String, Queue>,
    /// A blocking lock is sufficient, because each transaction is short.
    engine: Mutex<Engine>,
    clock: Clock,
}

struct Queue {
    definition: QueueDefinition,
    /// Wakes waiting receivers after a request that could make a message available earlier.
    changed: Notify,
}

impl AsyncEngine {
    pub(super) fn new(engine: Engine, definitions: BTreeMap<String, QueueDefinition>, clock: Clock) -> Self {
        let queue = |definition| Queue { definition, changed: Notify::new() };
        Self {
            queues: definitions.into_iter().map(|(name, definition)| (name, queue(definition))).collect(),
            engine: Mutex::new(engine),
            clock,
        }
    }

    pub(super) fn queue_names(&self) -> impl Iterator<Item = &String> {
        self.queues.keys()
    }

    pub(super) fn definition(&self, queue: &str) -> Result<&QueueDefinition, Error> {
        Ok(&self.queue(queue)?.definition)
    }

    pub(super) fn send(&self, queue: &str, message: QueueMessageToSend) -> Result<SentMessage, Error> {
        let queue = self.queue(queue)?;
        let sent = self.lock_engine().send(&queue.definition, message, self.now_ms())?;
        queue.changed.notify_waiters();
        Ok(sent)
    }

    /// Waits, without a time limit, until at least one message can be received, and receives the available messages.
    /// Also calls `on_receive`, before any other request can find the messages received.
    pub(super) async fn receive<T>(
        &self,
        queue: &str,
        request: ReceiveRequest,
        on_receive: impl Fn() -> T,
    ) -> Result<(Vec<Message>, T), Error> {
        let queue = self.queue(queue)?;
        loop {
            // The subscription starts before the query. Otherwise, a message that is sent in between would not wake
            // this call.
            let changed = queue.changed.notified();
            if let Some(received) = self.receive_visible(queue, request, &on_receive)? {
                return Ok(received);
            }
            let due_at_ms = self.lock_engine().next_due_ms(&queue.definition)?;
            self.wait(changed, due_at_ms).await;
        }
    }

    /// Returns `None` if no message can be received.
    fn receive_visible<T>(
        &self,
        queue: &Queue,
        request: ReceiveRequest,
        on_receive: &impl Fn() -> T,
    ) -> Result<Option<(Vec<Message>, T)>, Error> {
        let engine = self.lock_engine();
        let result = engine.receive(&queue.definition, request, self.now_ms())?;
        let value = (!result.messages.is_empty()).then(on_receive);
        drop(engine);
        // Other receivers sleep until the next due time, which this receive may have changed.
        if value.is_some() || result.has_dead_lettered {
            queue.changed.notify_waiters();
        }
        if let Some(redrive_policy) = &queue.definition.redrive_policy
            && result.has_dead_lettered
        {
            self.queue(&redrive_policy.dead_letter_queue)?.changed.notify_waiters();
        }
        Ok(value.map(|value| (result.messages, value)))
    }

    async fn wait(&self, changed: Notified<'_>, due_at_ms: Option<u64>) {
        let Some(due_at_ms) = due_at_ms else {
            return changed.await;
        };
        tokio::select! {
            () = changed => {}
            () = self.clock.sleep_until_ms(due_at_ms) => {}
        }
    }

    pub(super) fn delete(&self, queue: &str, receipt_handle: &str) -> Result<(), Error> {
        let queue = self.queue(queue)?;
        self.lock_engine().delete(&queue.definition, receipt_handle, self.now_ms())?;
        queue.changed.notify_waiters();
        Ok(())
    }

    pub(super) fn change_visibility(&self, queue: &str, receipt_handle: &str, seconds: u32) -> Result<(), Error> {
        let queue = self.queue(queue)?;
        self.lock_engine().change_visibility(&queue.definition, receipt_handle, seconds, self.now_ms())?;
        queue.changed.notify_waiters();
        Ok(())
    }

    pub(super) fn purge(&self, queue: &str) -> Result<(), Error> {
        self.lock_engine().purge(self.definition(queue)?)
    }

    pub(super) fn depth(&self, queue: &str) -> Result<QueueDepth, Error> {
        self.lock_engine().depth(self.definition(queue)?, self.now_ms())
    }

    pub(super) fn next_due_ms(&self, queue: &str) -> Result<Option<u64>, Error> {
        self.lock_engine().next_due_ms(self.definition(queue)?)
    }

    fn queue(&self, name: &str) -> Result<&Queue, Error> {
        self.queues.get(name).ok_or_else(|| Error::QueueDoesNotExist(name.to_owned()))
    }

    fn now_ms(&self) -> u64 {
        self.clock.now_ms()
    }

    /// A poisoned lock is ignored, because a panic rolls back the open transaction and the engine is still consistent.
    fn lock_engine(&self) -> MutexGuard<'_, Engine> {
        self.engine.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
