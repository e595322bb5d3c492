//! Circuit breakers for receivers whose first attempts hang. While a breaker is open, first attempts go to the retry
//! queue, so that they occupy no process of the FIFO queue.
//!
//! A healthy receiver costs no reads and writes: a process reads a breaker only when the receiver has failed in that
//! process and has not answered since. A breaker closes by itself when no attempt fails for ten seconds.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Deserialize;

use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::runtime::dependencies::{Dependency, StartupContext};
use crate::store::from_item;
use crate::store::table::{ExpressionValues, ITEM_EXISTS, ItemUpdate, Key, Table, WriteError, n};

/// Failed first attempts that open a breaker, each within `FAILURE_TTL` of the one before.
const FAILURES_TO_OPEN: u32 = 5;
/// How long a failure counts, and how long a breaker stays open after the last one.
const FAILURE_TTL: Duration = Duration::from_secs(10);
/// How long a process uses the last read state of a breaker, and the interval of the writes that keep one open.
const REFRESH_INTERVAL: Duration = Duration::from_secs(2);
/// How long an expired item is kept before the table may delete it.
const EXPIRED_ITEM_RETENTION: Duration = Duration::from_secs(60);
/// When the cache of failing receivers is full, it is emptied.
const MAX_CACHED_BREAKERS: usize = 1_000;

/// The circuit breakers of all receivers, items of the Connections table.
#[derive(Clone)]
pub struct CircuitBreakers {
    table: Table,
    /// The receivers that failed in this process and have not answered since.
    cache: Arc<Mutex<HashMap<String, CachedBreaker>>>,
}

#[derive(Clone, Copy)]
struct CachedBreaker {
    is_open: bool,
    read_at: Timestamp,
    written_at: Timestamp,
}

#[derive(Deserialize)]
struct BreakerItem {
    #[serde(default)]
    failures: u32,
    /// Milliseconds: when the failures expire.
    #[serde(default)]
    until: u64,
}

impl Dependency for CircuitBreakers {
    fn open(startup: &mut StartupContext) -> Self {
        Self::new(Table::open(startup, "CONNECTIONS_TABLE"))
    }
}

fn key(receiver: &str) -> Key {
    Key::new(format!("BREAKER#{receiver}"), "BREAKER")
}

impl CircuitBreakers {
    pub fn new(table: Table) -> Self {
        Self { table, cache: Arc::default() }
    }

    /// Whether first attempts go to the retry queue. Nothing is read unless the receiver has failed in this process;
    /// then one read, and while the breaker is open one read in two seconds.
    pub async fn is_open(&self, receiver: &str, now: Timestamp) -> Result<bool, Error> {
        let Some(cached) = self.cached(receiver) else { return Ok(false) };
        if cached.is_open && now.since(cached.read_at) < REFRESH_INTERVAL {
            return Ok(true);
        }
        let item: Option<BreakerItem> = self.table.get(key(receiver)).await?.map(from_item).transpose()?;
        let Some(item) = item.filter(|item| Timestamp(item.until) > now) else {
            self.lock_cache().remove(receiver);
            return Ok(false);
        };
        let is_open = item.failures >= FAILURES_TO_OPEN;
        self.put_cached(receiver, CachedBreaker { is_open, read_at: now, ..cached });
        Ok(is_open)
    }

    /// Counts a first attempt that hung until it failed, and returns whether this opened the breaker. One write; up to
    /// three when the earlier failures have expired.
    pub(crate) async fn count_failure(&self, receiver: &str, now: Timestamp) -> Result<bool, Error> {
        let add = ItemUpdate {
            key: key(receiver),
            update: "SET #until = :until, #expires_at = :expires_at ADD #failures :one",
            condition: "attribute_not_exists(#until) OR #until > :now",
            values: [vec![(":one", n(1)), (":now", n(now.0))], expiry_values(now)].concat(),
        };
        let restart = ItemUpdate {
            update: "SET #until = :until, #expires_at = :expires_at, #failures = :one",
            condition: "#until <= :now",
            ..add.clone()
        };
        let mut updated = self.table.update(add.clone()).await;
        if let Err(WriteError::ConditionFailed { .. }) = updated {
            updated = self.table.update(restart).await;
        }
        if let Err(WriteError::ConditionFailed { .. }) = updated {
            // Another process restarted the count concurrently.
            updated = self.table.update(add).await;
        }
        let BreakerItem { failures, .. } = from_item(updated?)?;
        let is_open = failures >= FAILURES_TO_OPEN;
        self.put_cached(receiver, CachedBreaker { is_open, read_at: now, written_at: now });
        Ok(failures == FAILURES_TO_OPEN)
    }

    /// Keeps an open breaker open after a later attempt hung until it failed. At most one write in two seconds.
    pub(crate) async fn keep_open(&self, receiver: &str, now: Timestamp) -> Result<(), Error> {
        if self.cached(receiver).is_some_and(|cached| now.since(cached.written_at) < REFRESH_INTERVAL) {
            return Ok(());
        }
        let item_update = ItemUpdate {
            key: key(receiver),
            update: "SET #until = :until, #expires_at = :expires_at",
            condition: "#failures >= :min AND #until > :now",
            values: [vec![(":min", n(FAILURES_TO_OPEN)), (":now", n(now.0))], expiry_values(now)].concat(),
        };
        let is_open = match self.table.update(item_update).await {
            Ok(_) => true,
            Err(WriteError::ConditionFailed { .. }) => false,
            Err(error) => return Err(error.into()),
        };
        self.put_cached(receiver, CachedBreaker { is_open, read_at: now, written_at: now });
        Ok(())
    }

    /// Closes the breaker of a receiver that answered, and returns whether it was open as far as this process knew.
    /// Nothing is written unless the receiver has failed in this process; then one write.
    pub async fn close(&self, receiver: &str) -> Result<bool, Error> {
        let Some(cached) = self.lock_cache().remove(receiver) else { return Ok(false) };
        let (update, condition) = ("REMOVE #failures, #until", ITEM_EXISTS);
        self.table.update_if(ItemUpdate { key: key(receiver), update, condition, values: vec![] }).await?;
        Ok(cached.is_open)
    }

    fn cached(&self, receiver: &str) -> Option<CachedBreaker> {
        self.lock_cache().get(receiver).copied()
    }

    fn put_cached(&self, receiver: &str, breaker: CachedBreaker) {
        let mut cache = self.lock_cache();
        if cache.len() >= MAX_CACHED_BREAKERS {
            cache.clear();
        }
        cache.insert(receiver.to_owned(), breaker);
    }

    fn lock_cache(&self) -> MutexGuard<'_, HashMap<String, CachedBreaker>> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The expiry of a failure at this time, and the time after which the table may delete the item.
fn expiry_values(now: Timestamp) -> ExpressionValues {
    let until = now.plus(FAILURE_TTL);
    vec![(":until", n(until.0)), (":expires_at", n(until.plus(EXPIRED_ITEM_RETENTION).seconds()))]
}
