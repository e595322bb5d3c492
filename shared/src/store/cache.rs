//! What a process remembers of slow-changing items: each for ten seconds.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a process may use what it read.
const CACHE_TTL: Duration = Duration::from_secs(10);
/// Items a process remembers of a kind.
const MAX_CACHE_ENTRIES: usize = 1_000;

/// Items by key, each with the moment it was read; also that there is none.
pub(in crate::store) struct Cache<T> {
    items: Mutex<HashMap<String, CacheEntry<T>>>,
}

type CacheEntry<T> = (Instant, Option<Arc<T>>);

impl<T> Default for Cache<T> {
    fn default() -> Self {
        Self { items: Mutex::default() }
    }
}

impl<T> Cache<T> {
    /// What is remembered under a key and not too old: the item, or that there is none.
    pub(in crate::store) fn get(&self, key: &str) -> Option<Option<Arc<T>>> {
        let items = self.items.lock().unwrap_or_else(PoisonError::into_inner);
        let (read_at, item) = items.get(key)?;
        (read_at.elapsed() < CACHE_TTL).then(|| item.clone())
    }

    /// Remembers what was read and returns it to share.
    pub(in crate::store) fn put(&self, key: &str, item: Option<T>) -> Option<Arc<T>> {
        let item = item.map(Arc::new);
        let mut items = self.items.lock().unwrap_or_else(PoisonError::into_inner);
        if items.len() >= MAX_CACHE_ENTRIES {
            items.clear();
        }
        items.insert(key.to_owned(), (Instant::now(), item.clone()));
        item
    }
}
