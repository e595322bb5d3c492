//! An in-memory cache for items that rarely change. Each process has its own. A cached item is valid for ten seconds.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::domain::timestamp::Timestamp;
use crate::runtime::clock;

/// How long a process uses a cached item.
pub const CACHE_TTL: Duration = Duration::from_secs(10);
/// The maximum number of cached keys. A full cache is emptied before the next item is added.
const MAX_CACHE_ENTRIES: usize = 1_000;
/// How often a process may read one key past the cache in each [`REREAD_WINDOW`]. The limit keeps a caller who guesses
/// secrets from costing a read for every guess.
const MAX_REREADS_PER_WINDOW: u32 = 5;
const REREAD_WINDOW: Duration = Duration::from_secs(1);

/// Items by key. Also remembers the keys for which the table contains no item, so that they are not read again until
/// the entry is too old.
pub(crate) struct Cache<T> {
    items: Mutex<HashMap<String, CacheEntry<T>>>,
    /// For each key, the start of its current window and the number of rereads in it.
    rereads: Mutex<HashMap<String, (Timestamp, u32)>>,
}

/// The time at which the item was read, and the item itself, or `None` if the table does not contain it.
type CacheEntry<T> = (Timestamp, Option<Arc<T>>);

impl<T> Default for Cache<T> {
    fn default() -> Self {
        Self { items: Mutex::default(), rereads: Mutex::default() }
    }
}

impl<T> Cache<T> {
    /// Returns `None` if the key is not cached or its entry is too old, and `Some(None)` if the table is known to
    /// contain no item with this key.
    pub(crate) fn get(&self, key: &str) -> Option<Option<Arc<T>>> {
        let items = self.items.lock().unwrap_or_else(PoisonError::into_inner);
        let (read_at, item) = items.get(key)?;
        (clock::now().since(*read_at) < CACHE_TTL).then(|| item.clone())
    }

    /// Returns whether the caller may read this key again although it is cached, and counts the reread.
    pub(crate) fn allows_reread(&self, key: &str) -> bool {
        self.allows_reread_at(key, clock::now())
    }

    fn allows_reread_at(&self, key: &str, now: Timestamp) -> bool {
        let mut rereads = self.rereads.lock().unwrap_or_else(PoisonError::into_inner);
        if rereads.len() >= MAX_CACHE_ENTRIES && !rereads.contains_key(key) {
            rereads.retain(|_, (started_at, _)| now.since(*started_at) < REREAD_WINDOW);
            if rereads.len() >= MAX_CACHE_ENTRIES {
                return false;
            }
        }
        let (started_at, count) = rereads.entry(key.to_owned()).or_insert((now, 0));
        if now.since(*started_at) >= REREAD_WINDOW {
            (*started_at, *count) = (now, 0);
        }
        *count = count.saturating_add(1);
        *count <= MAX_REREADS_PER_WINDOW
    }

    pub(crate) fn put(&self, key: &str, item: Option<T>) -> Option<Arc<T>> {
        let item = item.map(Arc::new);
        let mut items = self.items.lock().unwrap_or_else(PoisonError::into_inner);
        if items.len() >= MAX_CACHE_ENTRIES {
            items.clear();
        }
        items.insert(key.to_owned(), (clock::now(), item.clone()));
        item
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rereads_of_a_key_are_limited_in_each_window() {
        let (cache, start) = (Cache::<u8>::default(), Timestamp(0));
        let allowed = |key: &str, now| (0..10).filter(|_| cache.allows_reread_at(key, now)).count();
        assert_eq!(allowed("a", start), 5);
        assert_eq!(allowed("b", start), 5, "another key has a limit of its own");
        assert_eq!(allowed("a", start.plus(Duration::from_millis(999))), 0);
        assert_eq!(allowed("a", start.plus(REREAD_WINDOW)), 5);
    }

    #[test]
    fn many_guessed_keys_neither_grow_the_memory_nor_cost_rereads() {
        let (cache, now) = (Cache::<u8>::default(), Timestamp(0));
        let allowed = (0..5_000).filter(|key| cache.allows_reread_at(&key.to_string(), now)).count();
        assert_eq!(allowed, MAX_CACHE_ENTRIES);
        assert!(cache.allows_reread_at("later", now.plus(REREAD_WINDOW)));
    }
}
