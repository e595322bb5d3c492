//! Limits how many tests run concurrently. The test runner (`tests/run`) starts more threads than tests can run at the
//! same time, so that a test that waits for a permit keeps no other test from running.

use std::sync::LazyLock;
use std::thread::available_parallelism;

use tokio::sync::{Semaphore, SemaphorePermit};

/// Tests alternate between computing and waiting, so there are more of them than processors.
static MAX_TESTS: LazyLock<u32> =
    LazyLock::new(|| available_parallelism().map_or(6, |processors| 3 * u32::try_from(processors.get()).unwrap()));
static PERMITS: LazyLock<Semaphore> = LazyLock::new(|| Semaphore::new(*MAX_TESTS as usize));

/// Waits until a test may run. It may run until the permit is dropped.
pub async fn acquire_permit() -> SemaphorePermit<'static> {
    PERMITS.acquire().await.unwrap()
}

/// Waits until no other test is running. None starts until the permit is dropped.
pub async fn acquire_all_permits() -> SemaphorePermit<'static> {
    PERMITS.acquire_many(*MAX_TESTS).await.unwrap()
}

/// Returns the permits of all other tests, or `None` if another test is running. No other test starts until they are
/// dropped.
pub fn exclude_other_tests() -> Option<SemaphorePermit<'static>> {
    PERMITS.try_acquire_many(*MAX_TESTS - 1).ok()
}
