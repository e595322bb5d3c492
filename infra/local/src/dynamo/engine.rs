//! Opens the database and starts the thread that serves it.
//!
//! Calls to the database are blocking. The requests of the functions run on a thread with its own Tokio runtime, so
//! that a long scan does not delay the gateway.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use axum::Router;
use axum::middleware::from_fn;
use dynoxide::Database;
use rusqlite::Connection;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;
use uuid::Uuid;

use super::error::Error;
use super::proxy::DynamoProxy;
use super::stream_retention::limit_stream_records;
use super::table_setup;
use super::table_streams::{StreamReader, TableStreams};
use super::write_conflicts::WriteConflicts;
use crate::aws::access_keys::AccessKeys;
use crate::aws::iam::Roles;
use crate::faults::Faults;
use crate::faults::store_latency::delay_requests;
use crate::http::loopback_host;
use crate::http::server::serve;
use crate::template::TableDefinition;
use crate::usage::UsageMeter;

/// How often expired items are deleted. On AWS, items may be deleted days after they expire.
const TTL_DELETION_INTERVAL: Duration = Duration::from_secs(60);

/// How often the streams' readers are notified while expired items are being deleted.
const TTL_STREAM_INTERVAL: Duration = Duration::from_millis(10);

/// A running database. Dropping it stops its thread.
pub(crate) struct DynamoEngine {
    url: String,
    database: Database,
    streams: TableStreams,
    write_conflicts: Arc<WriteConflicts>,
    stop: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

impl DynamoEngine {
    /// Opens the database in `file`, or an empty database in memory if `file` is `None`. Creates the template's tables
    /// if they are missing. Each request from a function is delayed by `latency`.
    pub fn start(
        file: Option<&Path>,
        template: &[TableDefinition],
        (access_keys, meter, roles, faults): (AccessKeys, UsageMeter, Roles, Faults),
        latency: Duration,
    ) -> Result<Self, Error> {
        let location = match file {
            Some(file) => file.to_string_lossy().into_owned(),
            // The name lets a second connection open the same database in memory.
            None => format!("file:/{}?vfs=memdb", Uuid::now_v7()),
        };
        let database = Database::new(&location).map_err(Error::Open)?;
        limit_stream_records(&Connection::open(&location)?)?;
        table_setup::create_or_update_tables(&database, template)?;
        let streams = TableStreams::new(template);
        let write_conflicts = Arc::default();
        let (listener, address) = bind()?;
        let proxy = DynamoProxy {
            access_keys,
            database: database.clone(),
            meter,
            roles,
            streams: streams.clone(),
            write_conflicts: Arc::clone(&write_conflicts),
            faults,
        };
        let router = delay_requests(proxy.router(), latency).layer(from_fn(loopback_host::require));
        let (stop, stop_requested) = oneshot::channel();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let thread = std::thread::Builder::new().name("dynamodb".to_owned());
        let thread = thread.spawn(move || run(&runtime, listener, router, stop_requested))?;
        Ok(Self { url: format!("http://{address}"), database, streams, write_conflicts, stop, thread })
    }

    /// Returns the base URL for table requests. Each function appends its name as the path.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Makes every n-th write fail with a conflict. With `None`, no write fails.
    pub fn set_write_conflict_interval(&self, interval: Option<NonZeroU32>) {
        self.write_conflicts.set_interval(interval);
    }

    pub fn read_stream(&self, table: &str) -> Result<StreamReader, Error> {
        self.streams.read(&self.database, table)
    }

    /// Returns the tables with changes that have not been passed to all event source mappings yet.
    pub fn tables_with_unread_changes(&self) -> Vec<&str> {
        self.streams.unprocessed()
    }

    /// Deletes expired items periodically until the returned future is dropped.
    pub fn delete_expired_items(&self) -> impl Future<Output = ()> + Send + use<> {
        let (database, streams) = (self.database.clone(), self.streams.clone());
        async move {
            loop {
                tokio::time::sleep(TTL_DELETION_INTERVAL).await;
                delete_items_expired_now(database.clone(), &streams).await;
            }
        }
    }

    /// Stops serving requests and closes the database. A running call of the database completes first.
    pub async fn stop(self) {
        drop(self.stop);
        let thread = self.thread;
        // This fails only if the thread has panicked. The database is closed in that case, too.
        let _ = tokio::task::spawn_blocking(move || thread.join()).await;
    }
}

/// Deletes all items that have expired. After an error, the next pass deletes the remaining items. Until then,
/// functions must filter out expired items, as on AWS.
async fn delete_items_expired_now(database: Database, streams: &TableStreams) {
    let mut pass = tokio::task::spawn_blocking(move || database.sweep_ttl());
    while tokio::time::timeout(TTL_STREAM_INTERVAL, &mut pass).await.is_err() {
        streams.notify_all();
    }
    streams.notify_all();
}

fn bind() -> Result<(TcpListener, SocketAddr), Error> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    Ok((listener, address))
}

fn run(runtime: &Runtime, listener: TcpListener, router: Router, stop_requested: oneshot::Receiver<()>) {
    runtime.block_on(async {
        // If the listener cannot be registered, it is closed, and callers get connection errors.
        let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
        tokio::select! {
            () = serve(listener, router) => {}
            _ = stop_requested => {}
        }
    });
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn start(file: Option<&Path>, has_stream: bool) -> DynamoEngine {
        let table = TableDefinition {
            name: "Items".to_owned(),
            attribute_definitions: json!([{"AttributeName": "pk", "AttributeType": "S"}]),
            key_schema: json!([{"AttributeName": "pk", "KeyType": "HASH"}]),
            indexes: Vec::new(),
            ttl_attribute: Some("expires_at".to_owned()),
            has_stream,
        };
        let roles = Roles::new(std::iter::empty());
        let keys = AccessKeys::generate(std::iter::empty()).unwrap();
        let context = (keys, UsageMeter::default(), roles, Faults::default());
        DynamoEngine::start(file, &[table], context, Duration::ZERO).unwrap()
    }

    fn put(engine: &DynamoEngine, item: &Value) {
        let request = json!({"TableName": "Items", "Item": item});
        engine.database.put_item(serde_json::from_value(request).unwrap()).unwrap();
        engine.streams.notify_all();
    }

    #[tokio::test]
    async fn expired_item_is_removed_by_the_service() {
        let engine = start(None, true);
        let item = json!({"pk": {"S": "a"}, "expires_at": {"N": "1"}});
        put(&engine, &item);
        let mut reader = engine.read_stream("Items").unwrap();
        delete_items_expired_now(engine.database.clone(), &engine.streams).await;
        let event = reader.next().await.unwrap().remove(0).event;
        let actual = (&event["eventName"], &event["dynamodb"]["OldImage"], &event["userIdentity"]);
        let service = json!({"type": "Service", "principalId": "dynamodb.amazonaws.com"});
        assert_eq!(actual, (&json!("REMOVE"), &item, &service));
        engine.stop().await;
    }

    #[tokio::test]
    async fn stream_of_an_existing_table_follows_the_template() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tables");
        for has_stream in [false, true, false] {
            let engine = start(Some(&file), has_stream);
            let reader = engine.read_stream("Items");
            assert_eq!(reader.is_ok(), has_stream);
            put(&engine, &json!({"pk": {"S": "a"}, "has_stream": {"BOOL": has_stream}}));
            if let Ok(mut reader) = reader {
                let records = reader.next().await.unwrap();
                let images = records.iter().map(|record| &record.event["dynamodb"]["NewImage"]["has_stream"]["BOOL"]);
                assert_eq!(images.collect::<Vec<_>>(), [true]);
            }
            engine.stop().await;
        }
    }
}
