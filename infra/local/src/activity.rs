//! Counts the work that the host does on its own: batches of messages, records of changed items, and scheduled
//! invocations. A test can thereby wait for a moment at which nothing is happening.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Clones share the counts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Activity(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    started: AtomicU64,
    ended: AtomicU64,
}

/// Work that goes on until this is dropped.
#[derive(Debug)]
pub(crate) struct OngoingWork(Arc<Counts>);

impl Activity {
    pub fn start(&self) -> OngoingWork {
        self.0.started.fetch_add(1, Ordering::SeqCst);
        OngoingWork(Arc::clone(&self.0))
    }

    /// Returns how much work has been started so far, and how much of it goes on.
    pub fn started_and_ongoing(&self) -> (u64, u64) {
        // In the opposite order, work that starts and ends in between could hide other work.
        let ended = self.0.ended.load(Ordering::SeqCst);
        let started = self.0.started.load(Ordering::SeqCst);
        (started, started - ended)
    }
}

impl Drop for OngoingWork {
    fn drop(&mut self) {
        self.0.ended.fetch_add(1, Ordering::SeqCst);
    }
}
