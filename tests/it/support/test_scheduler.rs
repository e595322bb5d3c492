//! Which tests run side by side: those of one kind, up to a number. The test runner has more threads than that
//! (`tests/run`), so tests of the other kinds gather meanwhile, and then run together.

use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::available_parallelism;

use tokio::sync::Notify;

/// How many tests that measure time wait side by side. 1 plays each of them alone.
const MAX_TIMED_TESTS: usize = 2;

/// What a test needs of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Works without a pause: as many at once as there are processors.
    Busy,
    /// Mostly waits, and measures how long: beside others that do the same.
    Timed,
    /// Loads the machine, or measures what any other test would change.
    Alone,
}

impl Kind {
    fn max(self) -> usize {
        match self {
            Self::Busy => available_parallelism().map_or(2, |processors| processors.get().max(2)),
            Self::Timed => MAX_TIMED_TESTS,
            Self::Alone => 1,
        }
    }
}

/// The tests that run now; all are of one kind.
struct Running {
    kind: Kind,
    count: usize,
}

pub struct Turns {
    running: Mutex<Running>,
    ended: Notify,
}

/// The right to run; dropping it gives it back.
pub struct Turn<'t> {
    turns: &'t Turns,
}

impl Turns {
    pub const fn new() -> Self {
        Self { running: Mutex::new(Running { kind: Kind::Alone, count: 0 }), ended: Notify::const_new() }
    }

    /// Waits until a test of this kind may run.
    pub async fn take(&self, kind: Kind) -> Turn<'_> {
        loop {
            let mut ended = pin!(self.ended.notified());
            // From here on no end is missed.
            ended.as_mut().enable();
            if let Some(turn) = self.try_take(kind) {
                return turn;
            }
            ended.await;
        }
    }

    fn try_take(&self, kind: Kind) -> Option<Turn<'_>> {
        let mut running = self.lock();
        let may_run = running.count == 0 || running.kind == kind && running.count < kind.max();
        may_run.then(|| {
            *running = Running { kind, count: running.count + 1 };
            Turn { turns: self }
        })
    }

    fn lock(&self) -> MutexGuard<'_, Running> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Turn<'_> {
    /// Whether no other test runs. None begins then, as long as this turn lasts.
    pub fn is_last(&self) -> bool {
        let mut running = self.turns.lock();
        if running.count == 1 {
            running.kind = Kind::Alone;
        }
        running.count == 1
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.turns.lock().count -= 1;
        self.turns.ended.notify_waiters();
    }
}

#[tokio::test]
async fn tests_of_one_kind_share_a_turn_and_others_wait() {
    let turns = Turns::new();
    let first = turns.take(Kind::Timed).await;
    let second = turns.take(Kind::Timed).await;
    assert!(!first.is_last());
    assert!(turns.try_take(Kind::Busy).is_none() && turns.try_take(Kind::Alone).is_none());
    drop(first);
    assert!(second.is_last());
    assert!(turns.try_take(Kind::Timed).is_none(), "the last one looks around");
    let (alone, ()) = tokio::join!(turns.take(Kind::Alone), async { drop(second) });
    assert!(turns.try_take(Kind::Alone).is_none());
    drop(alone);
    let timed: Vec<_> = std::iter::from_fn(|| turns.try_take(Kind::Timed)).collect();
    assert_eq!(timed.len(), MAX_TIMED_TESTS);
}
