//! Reads the streams of tables: one record for each change of an item, in the order of the changes.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dynoxide::Database;
use dynoxide::actions::get_records::{GetRecordsRequest, Record};
use dynoxide::actions::get_shard_iterator::GetShardIteratorRequest;
use dynoxide::streams::shard_id;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::Instant;

use super::error::Error;
use crate::aws::arn::{REGION, table_stream_arn};
use crate::template::TableDefinition;

/// The maximum number of records in one read, as on AWS.
const MAX_RECORDS_PER_READ: usize = 1_000;

/// The tables that have a stream. Clones share the notifications.
#[derive(Clone, Default)]
pub(crate) struct TableStreams(Arc<BTreeMap<String, TableStream>>);

struct TableStream {
    /// The name of the table's partition key.
    partition_key: String,
    /// The number of requests that may have changed the table.
    writes: WriteCount,
    /// For each reader, up to which of these requests it has processed the changes.
    processed: Mutex<Vec<Arc<AtomicU64>>>,
}

/// Counts the writes to a table and notifies the readers of its stream.
#[derive(Clone, Default)]
pub(super) struct WriteCount(watch::Sender<u64>);

impl WriteCount {
    pub fn increment(&self) {
        self.0.send_modify(|writes| *writes += 1);
    }
}

/// Reads the stream of one table, beginning with the first change after the reader was created.
pub(crate) struct StreamReader {
    database: Database,
    stream_arn: String,
    partition_key: String,
    iterator: String,
    writes: watch::Receiver<u64>,
    seen_writes: u64,
    processed: Arc<AtomicU64>,
}

#[derive(Debug, Clone)]
pub(crate) struct StreamRecord {
    pub sequence_number: String,
    /// The value of the item's partition key, in the notation of DynamoDB.
    pub partition_key: String,
    pub read_at: Instant,
    /// The record as Lambda passes it to functions.
    pub event: Value,
}

impl TableStreams {
    pub fn new(tables: &[TableDefinition]) -> Self {
        let with_stream = tables.iter().filter(|table| table.has_stream);
        let stream = |table: &TableDefinition| {
            let partition_key = table.partition_key().to_owned();
            (
                table.name.clone(),
                TableStream { partition_key, writes: WriteCount::default(), processed: Mutex::default() },
            )
        };
        Self(Arc::new(with_stream.map(stream).collect()))
    }

    /// Returns the write count of each of the given tables that has a stream.
    pub fn write_counts<'n>(&self, tables: impl IntoIterator<Item = &'n str>) -> Vec<WriteCount> {
        let streams = tables.into_iter().filter_map(|table| self.0.get(table));
        streams.map(|stream| stream.writes.clone()).collect()
    }

    pub fn notify_all(&self) {
        self.0.values().for_each(|stream| stream.writes.increment());
    }

    /// Returns the tables with changes that a reader has not processed yet.
    pub fn unprocessed(&self) -> Vec<&str> {
        let is_behind = |stream: &TableStream| {
            let writes = *stream.writes.0.borrow();
            stream.readers().iter().any(|processed| processed.load(Ordering::SeqCst) != writes)
        };
        self.0.iter().filter(|(_, stream)| is_behind(stream)).map(|(table, _)| table.as_str()).collect()
    }

    pub fn read(&self, database: &Database, table: &str) -> Result<StreamReader, Error> {
        let stream = self.0.get(table).ok_or_else(|| Error::NoStream(table.to_owned()))?;
        let stream_arn = table_stream_arn(table);
        let latest = database.get_shard_iterator(GetShardIteratorRequest {
            stream_arn: stream_arn.clone(),
            shard_id: shard_id(table),
            shard_iterator_type: "LATEST".to_owned(),
            sequence_number: None,
        })?;
        let writes = stream.writes.0.subscribe();
        let seen_writes = *writes.borrow();
        let processed = Arc::new(AtomicU64::new(seen_writes));
        stream.readers().push(Arc::clone(&processed));
        Ok(StreamReader {
            database: database.clone(),
            stream_arn,
            partition_key: stream.partition_key.clone(),
            iterator: latest.shard_iterator.unwrap_or_default(),
            writes,
            seen_writes,
            processed,
        })
    }
}

impl TableStream {
    fn readers(&self) -> MutexGuard<'_, Vec<Arc<AtomicU64>>> {
        self.processed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StreamReader {
    /// Waits for writes to the table and returns the changes in order. The result is empty if the writes left the items
    /// unchanged. After an error, the next call reads the same records again. The changes count as processed when this
    /// function is called again.
    pub async fn next(&mut self) -> Result<Vec<StreamRecord>, Error> {
        if matches!(self.writes.has_changed(), Ok(false)) {
            self.processed.store(self.seen_writes, Ordering::SeqCst);
        }
        if self.writes.changed().await.is_err() {
            // There will be no more writes to the table.
            return std::future::pending().await;
        }
        self.seen_writes = *self.writes.borrow_and_update();
        let (database, shard_iterator) = (self.database.clone(), self.iterator.clone());
        let request = GetRecordsRequest { shard_iterator, limit: Some(MAX_RECORDS_PER_READ) };
        let read = tokio::task::spawn_blocking(move || database.get_records(request)).await;
        let response = match read {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => {
                self.writes.mark_changed();
                return Err(error.into());
            }
            // The host is stopping.
            Err(_) => return Ok(Vec::new()),
        };
        if response.records.len() == MAX_RECORDS_PER_READ {
            self.writes.mark_changed();
        }
        if let Some(iterator) = response.next_shard_iterator {
            self.iterator = iterator;
        }
        let changes = response.records.into_iter().filter(is_change);
        Ok(changes.map(|record| self.stream_record(record)).collect())
    }

    fn stream_record(&self, record: Record) -> StreamRecord {
        StreamRecord {
            sequence_number: record.dynamodb.sequence_number.clone(),
            partition_key: json!(record.dynamodb.keys.get(&self.partition_key)).to_string(),
            read_at: Instant::now(),
            event: event(record, &self.stream_arn),
        }
    }
}

/// Returns whether the write changed the item. If not, DynamoDB adds no record to the stream, but the engine does.
fn is_change(record: &Record) -> bool {
    let images = &record.dynamodb;
    record.event_name != "MODIFY" || images.new_image != images.old_image
}

/// Returns the record in the format of a Lambda event.
fn event(record: Record, stream_arn: &str) -> Value {
    let mut event = json!(Record { aws_region: REGION.to_owned(), ..record });
    if let Value::Object(fields) = &mut event {
        fields.insert("eventSourceARN".to_owned(), stream_arn.into());
    }
    event
}
