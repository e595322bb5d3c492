//! Counts API requests, because requests are what AWS charges for.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Requests by (queue, action).
type Counts = BTreeMap<(String, String), u64>;

#[derive(Debug, Default)]
pub(super) struct Usage(Mutex<Counts>);

impl Usage {
    pub(super) fn count(&self, queue: &str, action: &str) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *counts.entry((queue.to_owned(), action.to_owned())).or_default() += 1;
    }

    pub(super) fn counts(&self) -> Counts {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
