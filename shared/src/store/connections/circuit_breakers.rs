//! Circuit breakers: receivers whose first attempts keep hanging. While a receiver's breaker is open, its first attempts
//! take the delayed queue, so that they hold no process of the ordered queue.
//!
//! A healthy receiver costs nothing: a process asks the table only about a receiver that has failed in that process and not
//! answered since. The item is worth nothing any more when no attempt fails for a while.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Deserialize;

use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::runtime::dependencies::{Dependency, Platform};
use crate::store::from_item;
use crate::store::table::{EXISTS, ItemUpdate, Key, Refused, Table, Values, n};

/// Failed first attempts, each within [`FAILURE_TTL`] of the one before, that open a breaker.
const MIN_FAILURES: u32 = 5;
/// How long a failure counts, and how long a breaker stays open after the last one.
const FAILURE_TTL: Duration = Duration::from_secs(10);
/// How long a process relies on what it last read of a breaker, and the pause between two writes that keep one open.
const REFRESH_AFTER: Duration = Duration::from_secs(2);
/// How long after its expiry the table deletes an item at the earliest.
const DELETE_AFTER: Duration = Duration::from_secs(60);
/// Receivers that a process remembers.
const MAX_REMEMBERED: usize = 1_000;

/// The breakers of all receivers, in the Connections table.
#[derive(Clone)]
pub struct Breakers {
    table: Table,
    /// The receivers that failed in this process and have not answered since.
    failing: Arc<Mutex<HashMap<String, CachedBreaker>>>,
}

/// What a process knows of a breaker.
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
    /// Milliseconds: when the failures stop to count.
    #[serde(default)]
    until: u64,
}

impl Dependency for Breakers {
    fn open(platform: &mut Platform) -> Self {
        Self::new(Table::open(platform, "CONNECTIONS_TABLE"))
    }
}

fn key(receiver: &str) -> Key {
    Key::new(format!("BREAKER#{receiver}"), "BREAKER")
}

impl Breakers {
    /// The breakers in that table.
    pub fn new(table: Table) -> Self {
        Self { table, failing: Arc::default() }
    }

    /// Whether a receiver's first attempts are to take the delayed queue. No request unless the receiver has failed in this
    /// process; then a read, and while the breaker is open one in two seconds.
    pub async fn is_open(&self, receiver: &str, now: Timestamp) -> Result<bool, Error> {
        let Some(known) = self.known(receiver) else { return Ok(false) };
        if known.is_open && now.since(known.read_at) < REFRESH_AFTER {
            return Ok(true);
        }
        let item: Option<BreakerItem> = self.table.get(key(receiver)).await?.map(from_item).transpose()?;
        let Some(item) = item.filter(|item| Timestamp(item.until) > now) else {
            self.failing().remove(receiver);
            return Ok(false);
        };
        let is_open = item.failures >= MIN_FAILURES;
        self.remember(receiver, CachedBreaker { is_open, read_at: now, ..known });
        Ok(is_open)
    }

    /// Counts a first attempt that hung until it failed, and returns whether it opened the breaker. One write; two or three
    /// when the failures before it do not count any more.
    pub async fn count_failure(&self, receiver: &str, now: Timestamp) -> Result<bool, Error> {
        let add = ItemUpdate {
            key: key(receiver),
            update: "SET #until = :until, #expires_at = :expires_at ADD #failures :one",
            condition: "attribute_not_exists(#until) OR #until > :now",
            values: [vec![(":one", n(1)), (":now", n(now.0))], until(now)].concat(),
        };
        let begin = ItemUpdate {
            update: "SET #until = :until, #expires_at = :expires_at, #failures = :one",
            condition: "#until <= :now",
            ..add.clone()
        };
        let mut counted = self.table.update(add.clone()).await;
        if let Err(Refused::Condition { .. }) = counted {
            counted = self.table.update(begin).await;
        }
        if let Err(Refused::Condition { .. }) = counted {
            // Another process has begun meanwhile.
            counted = self.table.update(add).await;
        }
        let BreakerItem { failures, .. } = from_item(counted?)?;
        self.remember(receiver, CachedBreaker { is_open: failures >= MIN_FAILURES, read_at: now, written_at: now });
        Ok(failures == MIN_FAILURES)
    }

    /// Keeps an open breaker open after a later attempt that hung until it failed. One write in two seconds.
    pub async fn keep_open(&self, receiver: &str, now: Timestamp) -> Result<(), Error> {
        if self.known(receiver).is_some_and(|known| now.since(known.written_at) < REFRESH_AFTER) {
            return Ok(());
        }
        let change = ItemUpdate {
            key: key(receiver),
            update: "SET #until = :until, #expires_at = :expires_at",
            condition: "#failures >= :min AND #until > :now",
            values: [vec![(":min", n(MIN_FAILURES)), (":now", n(now.0))], until(now)].concat(),
        };
        let is_open = match self.table.update(change).await {
            Ok(_) => true,
            Err(Refused::Condition { .. }) => false,
            Err(refused) => return Err(refused.into()),
        };
        self.remember(receiver, CachedBreaker { is_open, read_at: now, written_at: now });
        Ok(())
    }

    /// Closes the breaker of a receiver that answered, and returns whether this process took it for open. No request unless
    /// the receiver has failed in this process; then one write.
    pub async fn close(&self, receiver: &str) -> Result<bool, Error> {
        let Some(known) = self.failing().remove(receiver) else { return Ok(false) };
        let (update, condition) = ("REMOVE #failures, #until", EXISTS);
        self.table.update_if(ItemUpdate { key: key(receiver), update, condition, values: vec![] }).await?;
        Ok(known.is_open)
    }

    fn known(&self, receiver: &str) -> Option<CachedBreaker> {
        self.failing().get(receiver).copied()
    }

    fn remember(&self, receiver: &str, known: CachedBreaker) {
        let mut failing = self.failing();
        if failing.len() >= MAX_REMEMBERED {
            failing.clear();
        }
        failing.insert(receiver.to_owned(), known);
    }

    fn failing(&self) -> MutexGuard<'_, HashMap<String, CachedBreaker>> {
        self.failing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// When a failure that happens now stops to count, and when the table may delete it.
fn until(now: Timestamp) -> Values {
    let until = now.after(FAILURE_TTL);
    vec![(":until", n(until.0)), (":expires_at", n(until.after(DELETE_AFTER).seconds()))]
}
