//! The open connections by id, each with a queue of messages for its client.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use time::OffsetDateTime;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio_tungstenite::tungstenite::protocol::frame::Utf8Bytes;

use crate::clock::Clock;

/// The capacity of each connection's queue.
const MAX_QUEUED_BYTES: usize = 1024 * 1024;

/// The minimum capacity that a message takes up in the queue. The minimum limits the number of short messages in the
/// queue.
const MIN_QUEUED_MESSAGE_BYTES: usize = 512;

#[derive(Default)]
pub(super) struct OpenConnections(Mutex<HashMap<String, Arc<OpenConnection>>>);

/// The data about a connection that events and the management API report.
pub(super) struct ConnectionInfo {
    pub id: String,
    pub api_id: String,
    pub stage: String,
    /// The value of the `Host` header.
    pub domain_name: String,
    pub source_ip: String,
    pub user_agent: Option<String>,
    pub connected_at: OffsetDateTime,
    pub activity: Activity,
}

/// The time of the last message in either direction, or of the last ping from the client. It is stored in milliseconds
/// since the connection opened.
pub(super) struct Activity {
    clock: Clock,
    connected_ms: u64,
    last_active_ms: AtomicU64,
}

/// Sends messages to the client of a connection. Dropping it closes the connection after the queued messages have been
/// sent, but at the latest after one second.
pub(super) struct OpenConnection {
    pub info: Arc<ConnectionInfo>,
    messages: mpsc::UnboundedSender<QueuedMessage>,
    free_bytes: Arc<Semaphore>,
    _deletion: oneshot::Sender<()>,
}

/// The receiving ends of an [`OpenConnection`].
pub(super) struct Outbox {
    pub messages: mpsc::UnboundedReceiver<QueuedMessage>,
    /// Completes when the [`OpenConnection`] is dropped.
    pub deletion: oneshot::Receiver<()>,
}

pub(super) struct QueuedMessage {
    pub text: Utf8Bytes,
    /// Frees the capacity of the queue when it is dropped.
    _capacity: OwnedSemaphorePermit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SendError {
    Closed,
    QueueFull,
}

impl OpenConnections {
    /// Adds a connection. Messages for it are queued until the returned outbox is read.
    pub fn add(&self, info: Arc<ConnectionInfo>) -> Outbox {
        let (sender, messages) = mpsc::unbounded_channel();
        let (deletion_sender, deletion) = oneshot::channel();
        let free_bytes = Arc::new(Semaphore::new(MAX_QUEUED_BYTES));
        let id = info.id.clone();
        let connection = OpenConnection { info, messages: sender, free_bytes, _deletion: deletion_sender };
        self.lock().insert(id, Arc::new(connection));
        Outbox { messages, deletion }
    }

    pub fn get(&self, id: &str) -> Option<Arc<OpenConnection>> {
        self.lock().get(id).cloned()
    }

    /// Removes a connection, which closes it. Returns whether the connection was open.
    pub fn remove(&self, id: &str) -> bool {
        self.lock().remove(id).is_some()
    }

    /// A poisoned lock is ignored, because each critical section is a single map operation.
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<OpenConnection>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenConnection {
    /// Queues a message for the client. Never waits for the client.
    pub fn send(&self, text: Utf8Bytes) -> Result<(), SendError> {
        let size = text.len().clamp(MIN_QUEUED_MESSAGE_BYTES, MAX_QUEUED_BYTES);
        let size = u32::try_from(size).map_err(|_| SendError::QueueFull)?;
        let capacity = Arc::clone(&self.free_bytes).try_acquire_many_owned(size).map_err(|_| SendError::QueueFull)?;
        let message = QueuedMessage { text, _capacity: capacity };
        self.messages.send(message).map_err(|_| SendError::Closed)
    }
}

impl Activity {
    pub fn start(clock: Clock) -> Self {
        Self { connected_ms: clock.now_ms(), clock, last_active_ms: AtomicU64::default() }
    }

    pub fn record(&self) {
        self.last_active_ms.store(self.connected_for_ms(), Ordering::Relaxed);
    }

    pub fn connected_for(&self) -> Duration {
        Duration::from_millis(self.connected_for_ms())
    }

    fn connected_for_ms(&self) -> u64 {
        self.clock.now_ms().saturating_sub(self.connected_ms)
    }

    /// Returns the time between the opening of the connection and the last activity.
    pub fn last_active_after(&self) -> Duration {
        Duration::from_millis(self.last_active_ms.load(Ordering::Relaxed))
    }

    pub fn idle_for(&self) -> Duration {
        self.connected_for().saturating_sub(self.last_active_after())
    }
}
