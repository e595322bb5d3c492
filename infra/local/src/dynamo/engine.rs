//! Opens the database and starts the thread that serves it.
//!
//! Calls to the database are blocking. They run on a thread with its own Tokio runtime, so that a long scan does not
//! delay the gateway. The proxy runs on the same thread, which avoids a thread switch for each request.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use dynoxide::Database;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

use super::error::Error;
use super::proxy::DynamoProxy;
use super::table_setup;
use super::write_conflicts::WriteConflicts;
use crate::http_server::serve;
use crate::iam::Roles;
use crate::template::TableDefinition;
use crate::usage::UsageMeter;

/// How often expired items are deleted. On AWS, items may be deleted days after they expire.
const TTL_DELETION_INTERVAL: Duration = Duration::from_secs(60);

/// A running database. Dropping it stops its thread.
pub(crate) struct DynamoEngine {
    url: String,
    database: Database,
    write_conflicts: Arc<WriteConflicts>,
    stop: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

impl DynamoEngine {
    /// Opens the database in `file`, or an empty database in memory if `file` is `None`. Creates the template's tables
    /// if they are missing.
    pub fn start(
        file: Option<&Path>,
        template: &[TableDefinition],
        meter: UsageMeter,
        roles: Roles,
    ) -> Result<Self, Error> {
        let database = match file {
            Some(file) => Database::new(&file.to_string_lossy()),
            None => Database::memory(),
        };
        let database = database.map_err(Error::Open)?;
        table_setup::create_or_update_tables(&database, template)?;
        let write_conflicts = Arc::default();
        let (proxy_listener, proxy_address) = bind()?;
        let (engine_listener, engine_address) = bind()?;
        let proxy = DynamoProxy::new(engine_address, meter, roles, Arc::clone(&write_conflicts))?;
        let (stop, stop_requested) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let served_database = database.clone();
        let thread = std::thread::Builder::new().name("dynamodb".to_owned());
        let thread = thread.spawn(move || {
            run(&runtime, (proxy_listener, proxy), (engine_listener, served_database), stop_requested);
        })?;
        Ok(Self { url: format!("http://{proxy_address}"), database, write_conflicts, stop, thread })
    }

    /// Returns the base URL for table requests. Each function appends its name as the path.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Makes every n-th write fail with a conflict. With `None`, no write fails.
    pub fn set_write_conflict_interval(&self, interval: Option<NonZeroU32>) {
        self.write_conflicts.set_interval(interval);
    }

    /// Deletes expired items periodically until the returned future is dropped.
    pub fn delete_expired_items(&self) -> impl Future<Output = ()> + Send + use<> {
        let database = self.database.clone();
        async move {
            loop {
                tokio::time::sleep(TTL_DELETION_INTERVAL).await;
                let database = database.clone();
                // After an error, the next pass deletes the items. Until then, functions must filter out expired items,
                // as on AWS.
                let _ = tokio::task::spawn_blocking(move || database.sweep_ttl()).await;
            }
        }
    }

    /// Waits for running requests, then closes the database.
    pub async fn stop(self) {
        drop(self.stop);
        let thread = self.thread;
        // This fails only if the thread has panicked. The database is closed in that case as well.
        let _ = tokio::task::spawn_blocking(move || thread.join()).await;
    }
}

/// Listens on a free port and returns the listener with its address.
fn bind() -> Result<(TcpListener, SocketAddr), Error> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    Ok((listener, address))
}

/// Serves the proxy and the database until `stop_requested` resolves.
fn run(
    runtime: &Runtime,
    (proxy_listener, proxy): (TcpListener, DynamoProxy),
    (engine_listener, database): (TcpListener, Database),
    stop_requested: oneshot::Receiver<()>,
) {
    runtime.block_on(async {
        // If a listener cannot be registered, both listeners are closed, and callers get connection errors.
        let (Ok(proxy_listener), Ok(engine_listener)) = (register(proxy_listener), register(engine_listener)) else {
            return;
        };
        tokio::spawn(serve(proxy_listener, proxy.router()));
        let shutdown = async {
            let _ = stop_requested.await;
        };
        let _ = dynoxide::server::serve_with_shutdown(engine_listener, database, shutdown).await;
    });
}

fn register(listener: TcpListener) -> std::io::Result<tokio::net::TcpListener> {
    tokio::net::TcpListener::from_std(listener)
}
