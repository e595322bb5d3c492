//! Works through what is overdue in the index `due`, within a limit of time: several partitions at once, each from its oldest
//! item on and a page at a time, so that no partition keeps the others waiting.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use futures_util::future::{BoxFuture, join_all};

use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::runtime::{clock, metrics};
use crate::store::chats::Chats;
use crate::store::chats::deliveries::{Backlog, Cursor, DUE_PARTITIONS, Overdue, OverduePage};

/// Partitions that are worked on at once.
const WORKERS: u64 = 8;
/// Items of a partition before the next one has its turn.
const PAGE_ITEMS: i32 = 25;

/// Whether something came of an overdue item.
pub type Handling<'a> = BoxFuture<'a, Result<bool, Error>>;

/// What is done about an overdue item.
pub trait Handler: Send + Sync {
    /// Handles an item.
    fn handle<'a>(&'a self, overdue: &'a Overdue) -> Handling<'a>;
}

/// A run over a backlog.
pub struct Run<'a> {
    /// Where it is.
    pub chats: &'a Chats,
    /// Which one.
    pub backlog: Backlog,
    /// What was due before this moment is overdue.
    pub before: Timestamp,
    /// When the run begins no other item.
    pub deadline: Instant,
    /// The most items of which something may come.
    pub max_handled: u32,
}

/// What a run came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Items of which something came.
    pub handled: u32,
    /// Items and partitions that failed. The others were handled all the same.
    pub failed: u32,
    /// When the oldest item was due that the run did not come to, or that a busy service kept from being handled.
    pub oldest_waiting: Option<Timestamp>,
    /// When the oldest item was due that cannot be handled as it is.
    pub oldest_broken: Option<Timestamp>,
}

/// A partition whose turn comes, from the cursor on.
struct Turn {
    partition: u64,
    after: Option<Cursor>,
}

/// What the workers of a run share.
struct BacklogProgress {
    turns: VecDeque<Turn>,
    report: Report,
}

impl Run<'_> {
    /// Works through the backlog until nothing is left or a limit is reached. A query for each partition, and one for each
    /// page of it beyond the first.
    pub async fn work(&self, handler: &dyn Handler) -> Report {
        let progress = Mutex::new(BacklogProgress { turns: turns(clock::now()), report: Report::default() });
        join_all((0..WORKERS).map(|_| self.take_turns(&progress, handler))).await;
        let left = std::mem::take(&mut lock(&progress).turns);
        join_all(left.iter().map(|turn| self.look_at(&progress, turn))).await;
        let report = lock(&progress).report;
        if let Some(oldest) = report.oldest() {
            metrics::backlog(self.backlog.name(), clock::now().since(oldest));
        }
        report
    }

    async fn take_turns(&self, progress: &Mutex<BacklogProgress>, handler: &dyn Handler) {
        while let Some(turn) = self.next_turn(progress) {
            let Some(page) = self.page(progress, &turn, PAGE_ITEMS).await else { continue };
            for overdue in &page.items {
                if self.is_over(&lock(progress).report) {
                    lock(progress).report.leave(overdue);
                    break;
                }
                let result = handler.handle(overdue).await;
                lock(progress).report.note(overdue, result);
            }
            if let Some(cursor) = page.next {
                lock(progress).turns.push_back(Turn { after: Some(cursor), ..turn });
            }
        }
    }

    fn next_turn(&self, progress: &Mutex<BacklogProgress>) -> Option<Turn> {
        let mut progress = lock(progress);
        if self.is_over(&progress.report) { None } else { progress.turns.pop_front() }
    }

    fn is_over(&self, report: &Report) -> bool {
        Instant::now() >= self.deadline || report.handled >= self.max_handled
    }

    /// Notes how old the rest of a partition is to which the run did not come.
    async fn look_at(&self, progress: &Mutex<BacklogProgress>, turn: &Turn) {
        let page = self.page(progress, turn, 1).await;
        page.iter().flat_map(|page| &page.items).for_each(|overdue| lock(progress).report.leave(overdue));
    }

    async fn page(&self, progress: &Mutex<BacklogProgress>, turn: &Turn, limit: i32) -> Option<OverduePage> {
        let found = self.chats.overdue(self.backlog, turn.partition, self.before, turn.after.clone(), limit).await;
        found
            .inspect_err(|error| {
                lock(progress).report.failed += 1;
                tracing::error!(context = ?error.context(), turn.partition, "overdue items not read: {error}");
            })
            .ok()
    }
}

impl Report {
    /// When the oldest item was due that is still overdue.
    pub fn oldest(&self) -> Option<Timestamp> {
        self.oldest_waiting.into_iter().chain(self.oldest_broken).min()
    }

    fn note(&mut self, overdue: &Overdue, result: Result<bool, Error>) {
        let error = match result {
            Ok(has_changed) => {
                self.handled += u32::from(has_changed);
                return;
            }
            Err(error) => error,
        };
        self.failed += 1;
        tracing::error!(context = ?error.context(), item = %overdue, "overdue item not handled: {error}");
        if matches!(error, Error::Unavailable(_)) {
            self.leave(overdue);
        } else {
            self.oldest_broken = Some(overdue.due_at.min(self.oldest_broken.unwrap_or(overdue.due_at)));
        }
    }

    fn leave(&mut self, overdue: &Overdue) {
        self.oldest_waiting = Some(overdue.due_at.min(self.oldest_waiting.unwrap_or(overdue.due_at)));
    }
}

/// Each partition once. Another one is the first in each minute: a run that ends early leaves others behind than the last.
fn turns(now: Timestamp) -> VecDeque<Turn> {
    let first = (now.seconds() / 60).wrapping_mul(WORKERS);
    (0..DUE_PARTITIONS).map(|n| Turn { partition: (first + n) % DUE_PARTITIONS, after: None }).collect()
}

fn lock(progress: &Mutex<BacklogProgress>) -> MutexGuard<'_, BacklogProgress> {
    progress.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_partition_is_the_first_ones_within_some_minutes() {
        let minutes = DUE_PARTITIONS / WORKERS;
        let partitions = |minute: u64| turns(Timestamp(minute * 60_000)).into_iter().map(|turn| turn.partition);
        for minute in 0..minutes {
            assert_eq!(partitions(minute).collect::<BTreeSet<_>>().len() as u64, DUE_PARTITIONS);
        }
        let first: BTreeSet<_> = (0..minutes).flat_map(|minute| partitions(minute).take(WORKERS as usize)).collect();
        assert_eq!(first.len() as u64, DUE_PARTITIONS);
    }
}
