//! Records of the requests that make up the load, each with its result as the client saw it.

use std::sync::{Arc, Mutex};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Action {
    VisitorMessage,
    AgentMessage,
    BotMessage,
    BotInvite,
    Note,
    Accept,
    Transfer,
    Close,
    Rate,
}

/// A request, including its repetitions with the same idempotency key. Times are milliseconds since the start of the
/// round.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Record {
    pub action: Action,
    pub started_ms: u64,
    pub ended_ms: u64,
    pub chat: Option<u64>,
    /// The agent who made the request. `None` for requests of visitors and bots.
    pub agent: Option<u64>,
    /// The agent to whom the chat is transferred.
    pub to: Option<u64>,
    pub text: Option<String>,
    /// The status of the last response, or `None` if there was no response.
    pub status: Option<u16>,
    /// The `seq` of the stored entry, if the response contains it.
    pub seq: Option<u64>,
    /// Whether the request was repeated because its result was unknown.
    pub is_repeated: bool,
}

impl Record {
    /// Whether the service has confirmed that it has carried out the request.
    pub fn is_acknowledged(&self) -> bool {
        self.status.is_some_and(|status| (200..300).contains(&status))
    }

    /// Whether the service may have carried out the request: it was confirmed, or its result is unknown.
    pub fn is_possible(&self) -> bool {
        self.is_acknowledged() || self.is_repeated || self.status.is_none_or(|status| status >= 500)
    }
}

/// Clones share the records.
#[derive(Clone)]
pub struct Records {
    start: Instant,
    start_unix_ms: u64,
    all: Arc<Mutex<Vec<Record>>>,
}

impl Records {
    pub fn start() -> Self {
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let start_unix_ms = u64::try_from(since_1970.as_millis()).unwrap();
        Self { start: Instant::now(), start_unix_ms, all: Arc::default() }
    }

    pub fn start_unix_ms(&self) -> u64 {
        self.start_unix_ms
    }

    /// Converts milliseconds since 1970 to milliseconds since the start of the round.
    pub fn ms_since_start(&self, unix_ms: u64) -> u64 {
        unix_ms.saturating_sub(self.start_unix_ms)
    }

    pub fn now_ms(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_millis()).unwrap()
    }

    pub fn add(&self, record: Record) {
        self.all.lock().unwrap().push(record);
    }

    pub fn all(&self) -> Vec<Record> {
        self.all.lock().unwrap().clone()
    }
}
