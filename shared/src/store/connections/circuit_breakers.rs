//! Circuit breakers for receivers that hang on first attempts. The state of a breaker is shared by all processes. While
//! a breaker is open, first attempts go to the retry queue, so that they do not block the processes that read the FIFO
//! queue.
//!
//! A healthy receiver causes no reads or writes. A process reads a receiver's breaker only if an attempt of this
//! process has hung and the receiver has not responded to this process since. A breaker closes by itself when no
//! attempt has hung for ten seconds.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Deserialize;

use crate::domain::timestamp::Timestamp;
use crate::error::{Error, ErrorContext};
use crate::runtime::dependencies::{Dependency, StartupContext};
use crate::store::from_item;
use crate::store::table::{ExpressionValues, ITEM_EXISTS, ItemUpdate, Key, Table, WriteError, WriteResult, n};

/// How many failed first attempts open a breaker. Each attempt must fail within `FAILURE_TTL` of the previous failure.
const FAILURES_TO_OPEN: u32 = 5;
/// How long a failure counts, and how long a breaker stays open after the last failure.
const FAILURE_TTL: Duration = Duration::from_secs(10);
/// How long a process treats a breaker as open before reading it again. Also the minimum interval between a process's
/// writes to keep a breaker open.
const REFRESH_INTERVAL: Duration = Duration::from_secs(2);
const EXPIRED_ITEM_RETENTION: Duration = Duration::from_secs(60);
/// The cache is emptied when it contains this number of breakers and another one is stored.
const MAX_CACHED_BREAKERS: usize = 1_000;

#[derive(Clone)]
pub struct CircuitBreakers {
    table: Table,
    /// The breakers of the receivers that have failed in this process and have not responded since. The key is the
    /// receiver.
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
    /// The time at which the failures expire, as Unix time in milliseconds.
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

    /// Returns whether the receiver's breaker is open. If it is, first attempts must go to the retry queue.
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

    /// Counts a first attempt that hung and then failed. Returns whether this opened the breaker.
    pub(crate) async fn count_hang(&self, receiver: &str, now: Timestamp) -> Result<bool, Error> {
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
            // Another process has restarted the count in the meantime.
            updated = self.table.update(add).await;
        }
        let BreakerItem { failures, .. } =
            from_item(updated.on_condition_failed(Error::Unavailable(ErrorContext::new("contended breaker")))?)?;
        let is_open = failures >= FAILURES_TO_OPEN;
        self.put_cached(receiver, CachedBreaker { is_open, read_at: now, written_at: now });
        Ok(failures == FAILURES_TO_OPEN)
    }

    /// Extends the time for which a breaker is open after another attempt has hung and failed.
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
        let is_open = self.table.update(item_update).await.condition()?.is_ok();
        self.put_cached(receiver, CachedBreaker { is_open, read_at: now, written_at: now });
        Ok(())
    }

    /// Closes a receiver's breaker because the receiver has responded. Returns true if this process knew that the
    /// breaker was open.
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

fn expiry_values(now: Timestamp) -> ExpressionValues {
    let until = now.plus(FAILURE_TTL);
    vec![(":until", n(until.0)), (":expires_at", n(until.plus(EXPIRED_ITEM_RETENTION).seconds()))]
}
