//! A cache in the memory of a process for items that change rarely. An entry is valid for ten seconds.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

const CACHE_TTL: Duration = Duration::from_secs(10);
/// When a cache is full, it is emptied.
const MAX_CACHE_ENTRIES: usize = 1_000;

/// Items by key. A missing item is cached too.
pub(in crate::store) struct Cache<T> {
    items: Mutex<HashMap<String, CacheEntry<T>>>,
}

/// When the item was read, and the item, unless it does not exist.
type CacheEntry<T> = (Instant, Option<Arc<T>>);

impl<T> Default for Cache<T> {
    fn default() -> Self {
        Self { items: Mutex::default() }
    }
}

impl<T> Cache<T> {
    /// None when the key is not cached, `Some(None)` when the item is known not to exist.
    pub(in crate::store) fn get(&self, key: &str) -> Option<Option<Arc<T>>> {
        let items = self.items.lock().unwrap_or_else(PoisonError::into_inner);
        let (read_at, item) = items.get(key)?;
        (read_at.elapsed() < CACHE_TTL).then(|| item.clone())
    }

    /// Caches what was read and returns it.
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
