//! The database and the thread that serves it.
//!
//! Its calls block, so it has a thread with a runtime of its own: a long scan must not hold up the gateway.
//! The proxy lives on the same thread, because the hop to the engine then wakes nobody else.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use dynoxide::Database;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

use super::contention::Contention;
use super::proxy::Proxy;
use super::{Error, tables};
use crate::permission::Roles;
use crate::serve::serve;
use crate::template::Table;
use crate::usage::Meter;

/// AWS deletes within days; a minute keeps the local tables small.
const SWEEP_INTERVAL: Duration = Duration::from_secs(60);

/// The database while it is served. Dropping it stops the thread.
pub(crate) struct Engine {
    url: String,
    database: Database,
    contention: Arc<Contention>,
    stop: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

impl Engine {
    /// Opens the file, or an empty database in memory, with the template's tables in it.
    pub fn start(file: Option<&Path>, template: &[Table], meter: Meter, roles: Roles) -> Result<Self, Error> {
        let database = match file {
            Some(file) => Database::new(&file.to_string_lossy()),
            None => Database::memory(),
        };
        let database = database.map_err(Error::Open)?;
        tables::prepare(&database, template)?;
        let contention = Arc::default();
        let (public, address) = bind()?;
        let (private, engine) = bind()?;
        let proxy = Proxy::new(engine, meter, roles, Arc::clone(&contention))?;
        let (stop, stopped) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let served = database.clone();
        let thread = std::thread::Builder::new().name("dynamodb".to_owned());
        let thread = thread.spawn(move || run(&runtime, (public, proxy), (private, served), stopped))?;
        Ok(Self { url: format!("http://{address}"), database, contention, stop, thread })
    }

    /// Where functions find their tables, each below its own name.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// From now on every so-manieth write meets another one; with `None` none does.
    pub fn contend(&self, every: Option<NonZeroU32>) {
        self.contention.set(every);
    }

    /// Deletes expired items from time to time; runs until it is dropped.
    pub fn sweep(&self) -> impl Future<Output = ()> + Send + use<> {
        let database = self.database.clone();
        async move {
            loop {
                tokio::time::sleep(SWEEP_INTERVAL).await;
                let database = database.clone();
                // An item that is swept late is only late; readers filter expired items themselves.
                let _ = tokio::task::spawn_blocking(move || database.sweep_ttl()).await;
            }
        }
    }

    /// Waits for running requests and closes the database.
    pub async fn stop(self) {
        drop(self.stop);
        let thread = self.thread;
        // Only fails when the thread panicked; the file is closed then, too.
        let _ = tokio::task::spawn_blocking(move || thread.join()).await;
    }
}

/// A free port of this machine.
fn bind() -> Result<(TcpListener, SocketAddr), Error> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    Ok((listener, address))
}

/// Serves both until `stopped`.
fn run(
    runtime: &Runtime,
    (public, proxy): (TcpListener, Proxy),
    (private, database): (TcpListener, Database),
    stopped: oneshot::Receiver<()>,
) {
    runtime.block_on(async {
        // A listener that cannot be registered is as good as one that is closed: callers see it.
        let (Ok(public), Ok(private)) = (register(public), register(private)) else {
            return;
        };
        tokio::spawn(serve(public, proxy.router()));
        let stopped = async {
            let _ = stopped.await;
        };
        let _ = dynoxide::server::serve_with_shutdown(private, database, stopped).await;
    });
}

fn register(listener: TcpListener) -> std::io::Result<tokio::net::TcpListener> {
    tokio::net::TcpListener::from_std(listener)
}
