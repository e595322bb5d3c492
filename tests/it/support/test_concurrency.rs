//! Decides which tests run concurrently: only tests with the same load, up to that load's limit. The test runner
//! (`tests/run`) starts more threads than can run tests at the same time, so that tests with a different load can wait
//! and later run together.

use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::available_parallelism;

use tokio::sync::Notify;

/// How many tests that measure time may run concurrently. They mostly wait, and `attempt_schedule` tolerates the delays
/// that they cause each other.
const MAX_TIMED_TESTS: usize = 6;

/// How a test uses the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestLoad {
    /// The test alternates between computing and waiting. At most three such tests run concurrently per processor.
    Busy,
    /// The test measures time or usage, and mostly waits.
    Timed,
    /// The test loads the machine, or measures something that other tests would affect. It runs alone.
    Exclusive,
}

impl TestLoad {
    fn max_concurrent(self) -> usize {
        match self {
            Self::Busy => available_parallelism().map_or(6, |processors| 3 * processors.get()),
            Self::Timed => MAX_TIMED_TESTS,
            Self::Exclusive => 1,
        }
    }
}

/// The running tests. All of them have the same load.
struct RunningTests {
    load: TestLoad,
    count: usize,
}

pub struct TestScheduler {
    running: Mutex<RunningTests>,
    test_ended: Notify,
}

/// Permission to run a test. It is dropped when the test ends, so that other tests can start.
pub struct RunPermit<'t> {
    scheduler: &'t TestScheduler,
}

impl TestScheduler {
    pub const fn new() -> Self {
        Self {
            running: Mutex::new(RunningTests { load: TestLoad::Exclusive, count: 0 }),
            test_ended: Notify::const_new(),
        }
    }

    pub async fn acquire(&self, load: TestLoad) -> RunPermit<'_> {
        loop {
            let mut test_ended = pin!(self.test_ended.notified());
            // Start listening for the end of a test before checking, so that no notification is missed.
            test_ended.as_mut().enable();
            if let Some(permit) = self.try_acquire(load) {
                return permit;
            }
            test_ended.await;
        }
    }

    fn try_acquire(&self, load: TestLoad) -> Option<RunPermit<'_>> {
        let mut running = self.lock();
        let may_run = running.count == 0 || running.load == load && running.count < load.max_concurrent();
        may_run.then(|| {
            *running = RunningTests { load, count: running.count + 1 };
            RunPermit { scheduler: self }
        })
    }

    fn lock(&self) -> MutexGuard<'_, RunningTests> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RunPermit<'_> {
    /// Returns whether this is the only running test. If it is, no other test starts until this permit is dropped.
    pub fn is_last_running(&self) -> bool {
        let mut running = self.scheduler.lock();
        if running.count == 1 {
            running.load = TestLoad::Exclusive;
        }
        running.count == 1
    }
}

impl Drop for RunPermit<'_> {
    fn drop(&mut self) {
        self.scheduler.lock().count -= 1;
        self.scheduler.test_ended.notify_waiters();
    }
}

#[tokio::test]
async fn tests_of_one_load_kind_run_concurrently() {
    let scheduler = TestScheduler::new();
    let first = scheduler.acquire(TestLoad::Timed).await;
    let second = scheduler.acquire(TestLoad::Timed).await;
    assert!(!first.is_last_running());
    assert!(scheduler.try_acquire(TestLoad::Busy).is_none() && scheduler.try_acquire(TestLoad::Exclusive).is_none());
    drop(first);
    assert!(second.is_last_running());
    assert!(scheduler.try_acquire(TestLoad::Timed).is_none(), "none starts while the last one checks the queues");
    let (exclusive, ()) = tokio::join!(scheduler.acquire(TestLoad::Exclusive), async { drop(second) });
    assert!(scheduler.try_acquire(TestLoad::Exclusive).is_none());
    drop(exclusive);
    let timed: Vec<_> = std::iter::from_fn(|| scheduler.try_acquire(TestLoad::Timed)).collect();
    assert_eq!(timed.len(), MAX_TIMED_TESTS);
}
