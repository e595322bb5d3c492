//! Processes the overdue items of the `due` index within a time limit. Several partitions are processed concurrently,
//! each starting with its oldest item. A worker processes one page of a partition and then takes the next partition, so
//! that a long partition does not delay the others.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use futures_util::future::{BoxFuture, join_all};

use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::runtime::{clock, metrics};
use crate::store::chats::Chats;
use crate::store::chats::delivery::due_index::{Backlog, DUE_PARTITIONS, OverdueCursor, OverdueItem, OverduePage};

const MAX_CONCURRENT_PARTITIONS: u64 = 8;
/// How many items of a partition a worker processes before it takes the next partition.
const MAX_ITEMS_PER_PAGE: i32 = 25;

/// The future of a handler. It resolves to true if the item was changed. Only changed items count towards
/// [`BacklogRun::max_changed_items`].
pub type HandlerFuture<'a> = BoxFuture<'a, Result<bool, Error>>;

/// Processes the items of a run, one in each call. If a call fails, the error is logged and counted, and the run
/// continues with the next item.
pub trait OverdueHandler: Send + Sync {
    fn handle<'a>(&'a self, overdue: &'a OverdueItem) -> HandlerFuture<'a>;
}

pub struct BacklogRun<'a> {
    pub chats: &'a Chats,
    pub backlog: Backlog,
    /// Items that were due before this time are overdue.
    pub due_before: Timestamp,
    /// After this time, the run does not start to process another item.
    pub deadline: Instant,
    /// When the run has changed this many items, it does not start to process another one.
    pub max_changed_items: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BacklogReport {
    pub changed: u32,
    /// The number of items that failed, plus the number of partitions that could not be read.
    pub failed: u32,
    /// The due time of the oldest item that the run did not reach, or that failed because a service was unavailable.
    /// `None` if no such item was found.
    pub oldest_unhandled_due_at: Option<Timestamp>,
    /// The due time of the oldest item that failed for another reason. `None` if there is no such item.
    pub oldest_failed_due_at: Option<Timestamp>,
}

struct PartitionPosition {
    partition: u64,
    after: Option<OverdueCursor>,
}

/// The state that the workers of a run share.
struct BacklogProgress {
    /// The partitions with unprocessed items, in processing order.
    pending: VecDeque<PartitionPosition>,
    report: BacklogReport,
}

impl BacklogRun<'_> {
    /// Processes the backlog until it is empty or a limit is reached.
    pub async fn process(&self, handler: &dyn OverdueHandler) -> BacklogReport {
        let progress =
            Mutex::new(BacklogProgress { pending: all_partitions(clock::now()), report: BacklogReport::default() });
        join_all((0..MAX_CONCURRENT_PARTITIONS).map(|_| self.process_partitions(&progress, handler))).await;
        let unprocessed = std::mem::take(&mut lock(&progress).pending);
        join_all(unprocessed.iter().map(|position| self.record_oldest_item(&progress, position))).await;
        let report = lock(&progress).report;
        if let Some(due_at) = report.oldest_due_at() {
            metrics::record_backlog_age(self.backlog.name(), clock::now().since(due_at));
        }
        report
    }

    /// Runs one of the concurrent workers until no partition is left or a limit is reached.
    async fn process_partitions(&self, progress: &Mutex<BacklogProgress>, handler: &dyn OverdueHandler) {
        while let Some(position) = self.next_position(progress) {
            let Some(page) = self.read_page(progress, &position, MAX_ITEMS_PER_PAGE).await else { continue };
            for item in &page.items {
                if self.has_reached_limit(&lock(progress).report) {
                    lock(progress).report.record_unhandled(item);
                    break;
                }
                let result = handler.handle(item).await;
                lock(progress).report.record(item, result);
            }
            if let Some(cursor) = page.next {
                lock(progress).pending.push_back(PartitionPosition { after: Some(cursor), ..position });
            }
        }
    }

    fn next_position(&self, progress: &Mutex<BacklogProgress>) -> Option<PartitionPosition> {
        let mut progress = lock(progress);
        if self.has_reached_limit(&progress.report) { None } else { progress.pending.pop_front() }
    }

    fn has_reached_limit(&self, report: &BacklogReport) -> bool {
        Instant::now() >= self.deadline || report.changed >= self.max_changed_items
    }

    /// Records when the oldest unprocessed item of a partition was due.
    async fn record_oldest_item(&self, progress: &Mutex<BacklogProgress>, position: &PartitionPosition) {
        let page = self.read_page(progress, position, 1).await;
        page.iter().flat_map(|page| &page.items).for_each(|item| lock(progress).report.record_unhandled(item));
    }

    /// If the read fails, logs and counts the error, and returns `None`.
    async fn read_page(
        &self,
        progress: &Mutex<BacklogProgress>,
        position: &PartitionPosition,
        limit: i32,
    ) -> Option<OverduePage> {
        let PartitionPosition { partition, after } = position;
        let page = self.chats.overdue(self.backlog, *partition, self.due_before, after.clone(), limit).await;
        page.inspect_err(|error| {
            lock(progress).report.failed += 1;
            tracing::error!(context = error.context(), partition, "overdue items not read: {error}");
        })
        .ok()
    }
}

impl BacklogReport {
    /// Returns the due time of the oldest item that is still overdue, or `None` if there is no such item.
    pub(crate) fn oldest_due_at(&self) -> Option<Timestamp> {
        self.oldest_unhandled_due_at.into_iter().chain(self.oldest_failed_due_at).min()
    }

    fn record(&mut self, item: &OverdueItem, result: Result<bool, Error>) {
        let error = match result {
            Ok(is_changed) => {
                self.changed += u32::from(is_changed);
                return;
            }
            Err(error) => error,
        };
        self.failed += 1;
        tracing::error!(context = error.context(), %item, "overdue item not handled: {error}");
        if matches!(error, Error::Unavailable(_)) {
            self.record_unhandled(item);
        } else {
            self.oldest_failed_due_at = Some(item.due_at.min(self.oldest_failed_due_at.unwrap_or(item.due_at)));
        }
    }

    fn record_unhandled(&mut self, item: &OverdueItem) {
        self.oldest_unhandled_due_at = Some(item.due_at.min(self.oldest_unhandled_due_at.unwrap_or(item.due_at)));
    }
}

/// Returns all partitions in processing order. Each minute, a different partition comes first. Otherwise, runs that end
/// early would always skip the same partitions.
fn all_partitions(now: Timestamp) -> VecDeque<PartitionPosition> {
    let first = (now.seconds() / 60).wrapping_mul(MAX_CONCURRENT_PARTITIONS);
    (0..DUE_PARTITIONS).map(|n| PartitionPosition { partition: (first + n) % DUE_PARTITIONS, after: None }).collect()
}

fn lock(progress: &Mutex<BacklogProgress>) -> MutexGuard<'_, BacklogProgress> {
    progress.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_partition_is_processed_first_within_some_minutes() {
        let minutes = DUE_PARTITIONS / MAX_CONCURRENT_PARTITIONS;
        let partitions =
            |minute: u64| all_partitions(Timestamp(minute * 60_000)).into_iter().map(|position| position.partition);
        for minute in 0..minutes {
            assert_eq!(partitions(minute).collect::<BTreeSet<_>>().len() as u64, DUE_PARTITIONS);
        }
        let concurrent = MAX_CONCURRENT_PARTITIONS as usize;
        let first: BTreeSet<_> = (0..minutes).flat_map(|minute| partitions(minute).take(concurrent)).collect();
        assert_eq!(first.len() as u64, DUE_PARTITIONS);
    }
}
