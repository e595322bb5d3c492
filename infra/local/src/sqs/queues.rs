//! The host's interface to the queues, which sends, receives and deletes messages without HTTP.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::activity::{Activity, OngoingWork};
use crate::aws::arn::{AWS_ACCOUNT_ID, REGION};
use crate::clock::Clock;

use super::async_engine::AsyncEngine;
use super::engine::{Engine, QueueDatabaseLocation, ReceiveRequest};
use super::request_counts::RequestCounts;
use super::{Error, Message, QueueDefinition, QueueDepth, QueueMessageToSend, SentMessage, queue_definition};

/// Clones share the queues.
#[derive(Clone)]
pub struct Queues {
    pub(super) engine: Arc<AsyncEngine>,
    pub(super) request_counts: Arc<RequestCounts>,
}

impl Queues {
    /// Opens the queues. Messages that an earlier run stored in the file are kept, and the current definitions apply to
    /// them. Messages in a queue that is no longer defined are kept until the queue is defined again.
    ///
    /// # Errors
    /// [`Error::Definition`] for a definition that SQS would reject, [`Error::Storage`] if the file cannot be opened.
    pub fn open(
        storage: &QueueDatabaseLocation,
        definitions: Vec<QueueDefinition>,
        clock: Clock,
    ) -> Result<Self, Error> {
        let definitions = queue_definition::by_name(definitions)?;
        let engine = Engine::open(storage)?;
        Ok(Self { engine: Arc::new(AsyncEngine::new(engine, definitions, clock)), request_counts: Arc::default() })
    }

    #[must_use]
    pub fn url(base_url: &str, name: &str) -> String {
        format!("{}/{AWS_ACCOUNT_ID}/{name}", base_url.trim_end_matches('/'))
    }

    #[must_use]
    pub fn arn(name: &str) -> String {
        format!("arn:aws:sqs:{REGION}:{AWS_ACCOUNT_ID}:{name}")
    }

    /// Waits until at least one message can be received, then receives up to `max_messages` messages (0 counts as 1).
    /// If the future is dropped, no message is lost.
    pub async fn receive(&self, queue: &str, max_messages: u32) -> Result<Vec<Message>, Error> {
        Ok(self.receive_and(queue, max_messages, || ()).await?.0)
    }

    /// Like [`receive`](Self::receive), but also counts the processing of the messages as work. It is counted before
    /// anyone can see that the messages are no longer due.
    pub(crate) async fn receive_as_work(
        &self,
        queue: &str,
        max_messages: u32,
        activity: &Activity,
    ) -> Result<(Vec<Message>, OngoingWork), Error> {
        self.receive_and(queue, max_messages, || activity.start()).await
    }

    async fn receive_and<T>(
        &self,
        queue: &str,
        max_messages: u32,
        on_receive: impl Fn() -> T,
    ) -> Result<(Vec<Message>, T), Error> {
        self.request_counts.increment(queue, "ReceiveMessage");
        let request = ReceiveRequest { max_messages: max_messages.max(1), visibility_timeout_seconds: None };
        self.engine.receive(queue, request, on_receive).await
    }

    /// Deletes a received message. As on AWS, a standard queue accepts every handle that it has ever issued, but only
    /// the handle of the latest receive deletes the message.
    ///
    /// # Errors
    /// Fails with [`Error::ReceiptHandleExpired`] if a message in a FIFO queue has become visible or been received
    /// again.
    pub fn delete(&self, queue: &str, receipt_handle: &str) -> Result<(), Error> {
        self.request_counts.increment(queue, "DeleteMessage");
        self.engine.delete(queue, receipt_handle)
    }

    /// The message becomes visible again `seconds` from now. The call is not counted as a request.
    pub(crate) fn change_visibility(&self, queue: &str, receipt_handle: &str, seconds: u32) -> Result<(), Error> {
        self.engine.change_visibility(queue, receipt_handle, seconds)
    }

    /// Stores a message, unless it is a duplicate in a FIFO queue.
    pub fn send(&self, queue: &str, message: QueueMessageToSend) -> Result<SentMessage, Error> {
        self.request_counts.increment(queue, "SendMessage");
        self.engine.send(queue, message)
    }

    /// The call is not counted as a request.
    pub fn depth(&self, queue: &str) -> Result<QueueDepth, Error> {
        self.engine.depth(queue)
    }

    /// Returns when a message of the queue can be received next, in milliseconds since 1970. This may be in the past.
    /// `None` if the queue is empty.
    pub(crate) fn next_due_ms(&self, queue: &str) -> Result<Option<u64>, Error> {
        self.engine.next_due_ms(queue)
    }

    /// The names are sorted.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.engine.queue_names().cloned().collect()
    }

    pub fn non_empty_queues(&self) -> Result<BTreeMap<String, QueueDepth>, Error> {
        let mut non_empty = BTreeMap::new();
        for name in self.names() {
            let depth = self.depth(&name)?;
            if depth != QueueDepth::default() {
                non_empty.insert(name, depth);
            }
        }
        Ok(non_empty)
    }

    /// Returns the number of API requests since the start, by queue and action. This includes requests through the
    /// router and calls to [`send`](Self::send), [`receive`](Self::receive) and [`delete`](Self::delete). A batch
    /// counts as one request. A request that names no queue, such as `ListQueues`, is counted under an empty queue
    /// name.
    #[must_use]
    pub fn request_counts(&self) -> BTreeMap<(String, String), u64> {
        self.request_counts.snapshot()
    }
}
