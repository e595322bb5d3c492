//! The handle to all queues, as the host holds it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::identity::{ACCOUNT, REGION};

use super::engine::{Engine, Storage, Wanted};
use super::service::{Clock, Service};
use super::usage::Usage;
use super::{Depth, Error, Message, Outgoing, QueueDefinition, SentMessage, definition, protocol};

/// All queues of the host. A clone is another handle to the same queues.
#[derive(Clone)]
pub struct Queues {
    pub(super) service: Arc<Service>,
    pub(super) usage: Arc<Usage>,
}

impl Queues {
    /// Opens the queues. Messages of an earlier run are still there; what the definitions say
    /// applies to them too. Messages of a queue that is not defined any more wait until it is
    /// again.
    ///
    /// # Errors
    /// [`Error::Definition`] when SQS would refuse the definitions, [`Error::Storage`] when the
    /// file cannot be opened.
    pub fn open(storage: &Storage, definitions: Vec<QueueDefinition>) -> Result<Self, Error> {
        Self::open_with_clock(storage, definitions, Box::new(system_clock))
    }

    pub(super) fn open_with_clock(
        storage: &Storage,
        definitions: Vec<QueueDefinition>,
        clock: Clock,
    ) -> Result<Self, Error> {
        let definitions = definition::by_name(definitions)?;
        let engine = Engine::open(storage)?;
        Ok(Self { service: Arc::new(Service::new(engine, definitions, clock)), usage: Arc::default() })
    }

    /// The queues over HTTP, as the official SDK speaks to them (AWS JSON 1.0). Any path is served,
    /// so the router can be nested. The URLs it hands out are `{base_url}/000000000000/{name}`.
    pub fn router(&self, base_url: String) -> axum::Router {
        protocol::router(self.clone(), base_url)
    }

    /// The URL of a queue.
    #[must_use]
    pub fn url(base_url: &str, name: &str) -> String {
        format!("{}/{ACCOUNT}/{name}", base_url.trim_end_matches('/'))
    }

    /// The ARN of a queue.
    #[must_use]
    pub fn arn(name: &str) -> String {
        format!("arn:aws:sqs:{REGION}:{ACCOUNT}:{name}")
    }

    /// Waits until at least one message can be received, and receives at most `max` of them (0
    /// counts as 1). It answers at once when one is sent, or when a delay or a visibility time-out
    /// ends. Dropping the future loses no message.
    ///
    /// # Errors
    /// [`Error::QueueDoesNotExist`], [`Error::Storage`].
    pub async fn receive(&self, queue: &str, max: u32) -> Result<Vec<Message>, Error> {
        self.usage.count(queue, "ReceiveMessage");
        let wanted = Wanted { max: max.max(1), visibility_seconds: None };
        self.service.receive(queue, wanted).await
    }

    /// Deletes a received message. As on AWS, a standard queue answers yes to any handle it once
    /// gave.
    ///
    /// # Errors
    /// [`Error::ReceiptHandleIsInvalid`]; [`Error::ReceiptHandleExpired`] on a FIFO queue when the
    /// message became visible again; [`Error::QueueDoesNotExist`], [`Error::Storage`].
    pub fn delete(&self, queue: &str, receipt_handle: &str) -> Result<(), Error> {
        self.usage.count(queue, "DeleteMessage");
        self.service.delete(queue, receipt_handle)
    }

    /// Sends a message. It is on disk when this returns.
    ///
    /// # Errors
    /// Everything SQS refuses a message for; [`Error::QueueDoesNotExist`], [`Error::Storage`].
    pub fn send(&self, queue: &str, outgoing: Outgoing) -> Result<SentMessage, Error> {
        self.usage.count(queue, "SendMessage");
        self.service.send(queue, outgoing)
    }

    /// How many messages the queue holds. Not counted as a request.
    ///
    /// # Errors
    /// [`Error::QueueDoesNotExist`], [`Error::Storage`].
    pub fn depth(&self, queue: &str) -> Result<Depth, Error> {
        self.service.depth(queue)
    }

    /// The names of all queues, sorted.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.service.names().cloned().collect()
    }

    /// The queues that hold messages, and how many.
    ///
    /// # Errors
    /// [`Error::Storage`].
    pub fn left(&self) -> Result<BTreeMap<String, Depth>, Error> {
        let mut left = BTreeMap::new();
        for name in self.names() {
            let depth = self.depth(&name)?;
            if depth != Depth::default() {
                left.insert(name, depth);
            }
        }
        Ok(left)
    }

    /// API requests by (queue, action) since the start, those through the router and those of this
    /// handle. A batch is one request. `ListQueues` has no queue and is counted under an empty
    /// name.
    #[must_use]
    pub fn usage(&self) -> BTreeMap<(String, String), u64> {
        self.usage.counts()
    }
}

fn system_clock() -> u64 {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH);
    since_1970.map_or(0, |elapsed| u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX))
}
