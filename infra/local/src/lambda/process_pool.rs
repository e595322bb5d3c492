//! Manages the processes of one function. Each invocation takes an idle process, or starts a process if none is idle.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use tokio::sync::Semaphore;

use super::error::InvocationError;
use super::launch_context::LaunchContext;
use super::launcher::Launcher;
use super::process::{InvocationOutcome, Process};
use crate::faults::Faults;
use crate::log::LogSink;
use crate::template::Function;
use crate::usage::UsageMeter;

/// The concurrency limit of a function without reserved concurrency in the template, unless its queues and streams need
/// a higher one. More processes would hardly make a single machine faster.
const DEFAULT_CONCURRENCY_LIMIT: u32 = 64;

pub(super) struct ProcessPool {
    function: String,
    timeout: Duration,
    launcher: Launcher,
    concurrency_limit: u32,
    /// Each running invocation holds one permit. Further invocations wait in order.
    permits: Semaphore,
    idle: Mutex<Vec<IdleProcess>>,
    log: LogSink,
    meter: UsageMeter,
    faults: Faults,
}

struct IdleProcess {
    process: Process,
    idle_since: Instant,
}

/// Returns how many invocations of the function can run at the same time: its reserved concurrency in the template.
/// Without reserved concurrency, the limit is the sum of the maximum concurrency of the queues (0 if a queue has no
/// maximum) and the lanes of the streams (one invocation each), but at least the default limit.
fn concurrency_limit(function: &Function) -> u32 {
    let queues = function.queues.iter().map(|queue| queue.max_concurrency.unwrap_or_default());
    let streams = function.streams.iter().map(|stream| stream.lanes);
    let event_sources = queues.chain(streams).sum::<u32>();
    function.reserved_concurrency.unwrap_or_else(|| event_sources.max(DEFAULT_CONCURRENCY_LIMIT))
}

impl ProcessPool {
    pub fn new(function: &Function, launcher: Launcher, context: &LaunchContext) -> Self {
        let concurrency_limit = concurrency_limit(function);
        Self {
            function: function.name.clone(),
            timeout: function.timeout,
            launcher,
            concurrency_limit,
            permits: Semaphore::new(concurrency_limit as usize),
            idle: Mutex::default(),
            log: context.log.clone(),
            meter: context.meter.clone(),
            faults: context.faults.clone(),
        }
    }

    /// Starts a process, waits until it is initialized, and keeps it idle for a later invocation.
    pub async fn warm_up(&self) -> Result<(), InvocationError> {
        let mut process = self.launcher.start()?;
        process.wait_until_ready().await?;
        self.add_idle(process);
        Ok(())
    }

    pub async fn invoke(&self, event: Bytes) -> Result<Bytes, InvocationError> {
        let _permit = self.permits.acquire().await.map_err(|_| InvocationError::HostStopping)?;
        let start = Instant::now();
        let result = self.invoke_in_process(event).await;
        self.meter.record_invocation(&self.function, start.elapsed(), result.is_err());
        if let Err(error) = &result {
            self.log_error(error);
        }
        result
    }

    pub fn is_busy(&self) -> bool {
        self.permits.available_permits() < self.concurrency_limit as usize
    }

    async fn invoke_in_process(&self, event: Bytes) -> Result<Bytes, InvocationError> {
        loop {
            let idle = self.idle().pop();
            let mut process = match idle {
                Some(idle) => idle.process,
                None => self.launcher.start()?,
            };
            // A crash is injected by replacing the timeout, because a process that exceeds its timeout is killed.
            let crash_delay = self.faults.crash_delay();
            match process.invoke(event.clone(), crash_delay.unwrap_or(self.timeout)).await {
                InvocationOutcome::Completed(result) => {
                    self.add_idle(process);
                    return result;
                }
                InvocationOutcome::NotDelivered => {}
                InvocationOutcome::Failed(error) => {
                    if crash_delay.is_some() {
                        self.faults.record_killed_invocation(&self.function, event);
                    }
                    return Err(error);
                }
            }
        }
    }

    fn add_idle(&self, process: Process) {
        self.idle().push(IdleProcess { process, idle_since: Instant::now() });
    }

    /// Logs an error unless the function returned it, because functions log their own errors.
    fn log_error(&self, error: &InvocationError) {
        if !matches!(error, InvocationError::Function { .. }) {
            self.log.line(&self.function, &error.to_string());
        }
    }

    pub fn kill_idle_processes(&self, max_idle_time: Duration) {
        self.idle().retain(|idle| idle.idle_since.elapsed() < max_idle_time);
    }

    /// Waits for the running and waiting invocations, then rejects new ones.
    pub async fn drain(&self) {
        // This fails only if the semaphore is already closed.
        let _ = self.permits.acquire_many(self.concurrency_limit).await;
        self.permits.close();
    }

    fn idle(&self) -> MutexGuard<'_, Vec<IdleProcess>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
