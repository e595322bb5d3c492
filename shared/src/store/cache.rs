//! An in-memory cache for items that rarely change. Each process has its own. A cached item is valid for ten seconds.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

const CACHE_TTL: Duration = Duration::from_secs(10);
/// The maximum number of cached keys. A full cache is emptied before the next item is added.
const MAX_CACHE_ENTRIES: usize = 1_000;

/// Items by key. Also remembers the keys for which the table contains no item, so that they are not read again until
/// the entry is too old.
pub(in crate::store) struct Cache<T> {
    items: Mutex<HashMap<String, CacheEntry<T>>>,
}

/// The time at which the item was read, and the item itself, or `None` if the table does not contain it.
type CacheEntry<T> = (Instant, Option<Arc<T>>);

impl<T> Default for Cache<T> {
    fn default() -> Self {
        Self { items: Mutex::default() }
    }
}

impl<T> Cache<T> {
    /// Returns `None` if the key is not cached or its entry is too old, and `Some(None)` if the table is known to
    /// contain no item with this key.
    pub(in crate::store) fn get(&self, key: &str) -> Option<Option<Arc<T>>> {
        let items = self.items.lock().unwrap_or_else(PoisonError::into_inner);
        let (read_at, item) = items.get(key)?;
        (read_at.elapsed() < CACHE_TTL).then(|| item.clone())
    }

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
