//! Counts API requests, because SQS is billed by the request.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// The number of requests by (queue, action).
type Counts = BTreeMap<(String, String), u64>;

#[derive(Debug, Default)]
pub(super) struct RequestCounts(Mutex<Counts>);

impl RequestCounts {
    pub(super) fn increment(&self, queue: &str, action: &str) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *counts.entry((queue.to_owned(), action.to_owned())).or_default() += 1;
    }

    pub(super) fn snapshot(&self) -> Counts {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
