//! Emulates Lambda: runs the function binaries as processes that use the Runtime API.
//!
//! A process handles one event at a time. Processes are started on demand and reused. The most recently used process
//! takes the next event, so that surplus processes stay idle and are eventually killed. Every process has its own base
//! path in the Runtime API, so a response is always attributed to the right process.
//!
//! # Layout
//! - `Functions`: the entry point, with one pool for each function
//! - `process_pool.rs`: picks the process for an invocation and limits concurrency
//! - `launch_context.rs`, `launcher.rs`, `environment.rs`: start a process with its environment variables
//! - `process.rs`: runs one process until it exits, and defines the outcomes of an invocation
//! - `mailbox.rs`: passes events to a process and responses back
//! - `runtime_api.rs`, `process_registry.rs`: the HTTP API for the processes, and the registry that identifies the
//!   caller
//! - `process_group.rs`: kills all processes when the host exits, even if it is killed
//! - `error.rs`: the reasons why an invocation fails

mod environment;
mod error;
mod launch_context;
mod launcher;
mod mailbox;
mod process;
mod process_group;
mod process_pool;
mod process_registry;
mod runtime_api;

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use tokio::sync::watch;

use self::launcher::Launcher;
use self::process_group::ProcessGroup;
use self::process_pool::ProcessPool;
use self::process_registry::ProcessRegistry;
use crate::template::Function;

pub(crate) use self::environment::function_variables;
pub use self::error::{InvocationError, ProcessExit};
pub(crate) use self::launch_context::LaunchContext;
pub(crate) use self::runtime_api::MAX_PAYLOAD_BYTES;

const MAX_IDLE_TIME: Duration = Duration::from_secs(300);

const IDLE_CHECK_INTERVAL: Duration = Duration::from_secs(30);

/// All functions on a host. Clones share the processes.
#[derive(Clone)]
pub(crate) struct Functions {
    pools: Arc<BTreeMap<String, Arc<ProcessPool>>>,
    registry: Arc<ProcessRegistry>,
    kill: Arc<watch::Sender<bool>>,
}

impl Functions {
    /// Creates the process pools without starting a function process.
    pub fn new(functions: &[Function], context: &LaunchContext) -> io::Result<Self> {
        let registry = Arc::new(ProcessRegistry::default());
        let kill = Arc::new(watch::Sender::new(false));
        let group = Arc::new(ProcessGroup::start()?);
        let pool = |function: &Function| {
            let launcher =
                Launcher::new(function, context, Arc::clone(&registry), Arc::clone(&kill), Arc::clone(&group));
            (function.name.clone(), Arc::new(ProcessPool::new(function, launcher, context)))
        };
        Ok(Self { pools: Arc::new(functions.iter().map(pool).collect()), registry, kill })
    }

    pub fn runtime_api(&self) -> Router {
        runtime_api::router(Arc::clone(&self.registry))
    }

    /// Invokes the function and waits for its response. As on AWS, the invocation continues if the caller stops
    /// waiting.
    pub async fn invoke(&self, function: &str, event: Bytes) -> Result<Bytes, InvocationError> {
        let pool = self.pools.get(function).ok_or(InvocationError::UnknownFunction)?;
        let pool = Arc::clone(pool);
        let invocation = tokio::spawn(async move { pool.invoke(event).await });
        invocation.await.unwrap_or(Err(InvocationError::HostStopping))
    }

    /// Returns the functions of which an invocation is running or waiting for a process.
    pub fn busy(&self) -> Vec<&str> {
        self.pools.iter().filter(|(_, pool)| pool.is_busy()).map(|(name, _)| name.as_str()).collect()
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.pools.keys().map(String::as_str)
    }

    /// Starts a process of the function and waits until it is initialized.
    pub async fn warm_up(&self, function: &str) -> Result<(), InvocationError> {
        self.pools.get(function).ok_or(InvocationError::UnknownFunction)?.warm_up().await
    }

    /// Returns the function name and the operating system's process id of every process.
    pub fn processes(&self) -> Vec<(String, u32)> {
        self.registry.processes()
    }

    /// Kills processes that have been idle for too long, until the returned future is dropped.
    pub async fn kill_idle_processes(self) {
        loop {
            tokio::time::sleep(IDLE_CHECK_INTERVAL).await;
            self.pools.values().for_each(|pool| pool.kill_idle_processes(MAX_IDLE_TIME));
        }
    }

    /// Waits for the running and waiting invocations, then rejects new ones.
    pub async fn drain(&self) {
        for pool in self.pools.values() {
            pool.drain().await;
        }
    }

    pub fn kill_on_drop(&self) -> KillOnDrop {
        KillOnDrop(self.clone())
    }

    fn kill(&self) {
        self.kill.send_replace(true);
    }

    /// Kills all processes, including busy ones, and waits until they have exited.
    pub async fn kill_all(&self) {
        self.kill();
        self.kill.closed().await;
    }
}

/// Kills all processes, including busy ones, when it is dropped.
pub(crate) struct KillOnDrop(Functions);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        self.0.kill();
    }
}
