//! Counts the batches of messages that have been received and not been processed yet.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Clones share the count.
#[derive(Debug, Clone, Default)]
pub(crate) struct RunningBatches(Arc<AtomicUsize>);

/// Counts as a running batch until it is dropped.
pub(super) struct RunningBatch(Arc<AtomicUsize>);

impl RunningBatches {
    pub fn is_empty(&self) -> bool {
        self.0.load(Ordering::SeqCst) == 0
    }

    pub(super) fn add(&self) -> RunningBatch {
        self.0.fetch_add(1, Ordering::SeqCst);
        RunningBatch(Arc::clone(&self.0))
    }
}

impl Drop for RunningBatch {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}
