//! The processes of one function.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use tokio::sync::Semaphore;

use super::launch::Launch;
use super::process::{Outcome, Process};
use super::{Failure, Setup};
use crate::log::LogSink;
use crate::template::Function;
use crate::usage::Meter;

/// How many invocations of a function run at once unless the template reserves another number or lets its queues have more.
/// More would only make a single machine slower; further invocations wait in the order they came.
const MIN_CONCURRENCY: u32 = 64;

pub(super) struct Pool {
    function: String,
    timeout: Duration,
    launch: Launch,
    concurrency: u32,
    slots: Semaphore,
    idle: Mutex<Vec<Idle>>,
    log: LogSink,
    meter: Meter,
}

struct Idle {
    process: Process,
    since: Instant,
}

/// The number that the template reserves; else enough for what each queue may have at once.
fn concurrency(function: &Function) -> u32 {
    let queues = function.queues.iter().map(|queue| queue.max_concurrency.unwrap_or_default());
    function.reserved_concurrency.unwrap_or_else(|| queues.sum::<u32>().max(MIN_CONCURRENCY))
}

impl Pool {
    pub fn new(function: &Function, launch: Launch, setup: &Setup) -> Self {
        let concurrency = concurrency(function);
        Self {
            function: function.name.clone(),
            timeout: function.timeout,
            launch,
            concurrency,
            slots: Semaphore::new(concurrency as usize),
            idle: Mutex::default(),
            log: setup.log.clone(),
            meter: setup.meter.clone(),
        }
    }

    /// Has a process ready before the first invocation comes.
    pub async fn warm(&self) -> Result<(), Failure> {
        let mut process = self.launch.start()?;
        process.until_ready().await?;
        self.keep(process);
        Ok(())
    }

    pub async fn invoke(&self, event: Bytes) -> Result<Bytes, Failure> {
        let _slot = self.slots.acquire().await.map_err(|_| Failure::Stopped)?;
        let start = Instant::now();
        let result = self.run(event).await;
        self.meter.invocation(&self.function, start.elapsed(), result.is_err());
        if let Err(failure) = &result {
            self.report(failure);
        }
        result
    }

    async fn run(&self, event: Bytes) -> Result<Bytes, Failure> {
        loop {
            let idle = self.idle().pop();
            let mut process = match idle {
                Some(idle) => idle.process,
                None => self.launch.start()?,
            };
            match process.run(event.clone(), self.timeout).await {
                Outcome::Answered(answer) => {
                    self.keep(process);
                    return answer;
                }
                Outcome::Unseen => {}
                Outcome::Lost(failure) => return Err(failure),
            }
        }
    }

    fn keep(&self, process: Process) {
        self.idle().push(Idle { process, since: Instant::now() });
    }

    /// The function itself says what it answered; everything else only the host can tell.
    fn report(&self, failure: &Failure) {
        if !matches!(failure, Failure::Function { .. }) {
            self.log.line(&self.function, &failure.to_string());
        }
    }

    /// Ends the processes that have been idle for longer than `limit`.
    pub fn reap(&self, limit: Duration) {
        self.idle().retain(|idle| idle.since.elapsed() < limit);
    }

    /// Waits for the running invocations and lets no more in.
    pub async fn drain(&self) {
        // Only fails when the pool is closed already.
        let _ = self.slots.acquire_many(self.concurrency).await;
        self.slots.close();
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Idle>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
