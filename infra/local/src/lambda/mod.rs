//! Plays Lambda: runs the function binaries as processes that speak the Runtime API.
//!
//! One process works on one invocation at a time. Processes are started on demand and kept for the next
//! invocation; the one that worked last works first, so that the others can end. Every process has its own
//! base path in the Runtime API, so an answer can only be that of the process that was asked.
//!
//! # Layout
//! - `pool.rs`: the processes of one function; which of them takes an invocation
//! - `launch.rs`: how a process is started
//! - `process.rs`: one process until its end, and what an invocation in it comes to
//! - `mailbox.rs`, `runtime_api.rs`: how a process gets its work and gives its answer
//! - `group.rs`: how the processes end with a host that is killed
//! - `environment.rs`: what a process is told at its start
//! - `failure.rs`: the ways an invocation fails

mod environment;
mod failure;
mod group;
mod launch;
mod mailbox;
mod pool;
mod process;
mod runtime_api;

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use tokio::sync::watch;

use self::group::ProcessGroup;
use self::launch::Launch;
use self::mailbox::Registry;
use self::pool::Pool;
use crate::endpoints::Endpoints;
use crate::log::LogSink;
use crate::template::Function;
use crate::usage::Meter;

pub use self::failure::{Ended, Failure};

/// Idle processes end after this time.
const IDLE_TIMEOUT: Duration = Duration::from_secs(300);

/// How often idle processes are looked for.
const REAP_INTERVAL: Duration = Duration::from_secs(30);

/// Invocation payload and answer, as on AWS.
pub(crate) const MAX_PAYLOAD_BYTES: usize = 6 * 1024 * 1024;

/// What the functions of a host share.
pub(crate) struct Setup {
    pub binaries: PathBuf,
    pub endpoints: Endpoints,
    pub log: LogSink,
    pub meter: Meter,
}

/// All functions of a host. A clone is another handle to them; when the last is gone, the processes end.
#[derive(Clone)]
pub(crate) struct Functions {
    pools: Arc<BTreeMap<String, Arc<Pool>>>,
    registry: Arc<Registry>,
    kill: Arc<watch::Sender<bool>>,
}

impl Functions {
    /// No process of a function is started yet.
    ///
    /// # Errors
    /// The system starts no process at all.
    pub fn new(functions: &[Function], setup: &Setup) -> io::Result<Self> {
        let registry = Arc::new(Registry::default());
        let kill = Arc::new(watch::Sender::new(false));
        let group = Arc::new(ProcessGroup::start()?);
        let pool = |function: &Function| {
            let launch = Launch::new(function, setup, Arc::clone(&registry), Arc::clone(&kill), Arc::clone(&group));
            (function.name.clone(), Arc::new(Pool::new(function, launch, setup)))
        };
        Ok(Self { pools: Arc::new(functions.iter().map(pool).collect()), registry, kill })
    }

    /// The Runtime API of all processes.
    pub fn runtime_api(&self) -> Router {
        runtime_api::router(Arc::clone(&self.registry))
    }

    /// Runs the function. The invocation goes on when the caller stops waiting, as on AWS.
    pub async fn invoke(&self, function: &str, event: Bytes) -> Result<Bytes, Failure> {
        let pool = self.pools.get(function).ok_or(Failure::Unknown)?;
        let pool = Arc::clone(pool);
        let invocation = tokio::spawn(async move { pool.invoke(event).await });
        invocation.await.unwrap_or(Err(Failure::Stopped))
    }

    /// The names of all functions.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.pools.keys().map(String::as_str)
    }

    /// Has a process of the function ready.
    pub async fn warm(&self, function: &str) -> Result<(), Failure> {
        self.pools.get(function).ok_or(Failure::Unknown)?.warm().await
    }

    /// Function and process id of every process.
    pub fn processes(&self) -> Vec<(String, u32)> {
        self.registry.processes()
    }

    /// Ends processes that have been idle for long; runs until it is dropped.
    pub async fn reap(self) {
        loop {
            tokio::time::sleep(REAP_INTERVAL).await;
            self.pools.values().for_each(|pool| pool.reap(IDLE_TIMEOUT));
        }
    }

    /// Waits until no invocation runs; new ones are refused from then on.
    pub async fn drain(&self) {
        for pool in self.pools.values() {
            pool.drain().await;
        }
    }

    /// Ties the processes to their owner.
    pub fn leash(&self) -> Leash {
        Leash(self.clone())
    }

    /// Tells all processes to end, those that work too.
    fn kill(&self) {
        self.kill.send_replace(true);
    }

    /// Ends all processes and waits until they are gone.
    pub async fn end(&self) {
        self.kill();
        self.kill.closed().await;
    }
}

/// Ends all processes when it is dropped, those that work too.
pub(crate) struct Leash(Functions);

impl Drop for Leash {
    fn drop(&mut self) {
        self.0.kill();
    }
}
