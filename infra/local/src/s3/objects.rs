//! The database of all objects. Expired objects are deleted before each access, so they are never seen.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::clock::Clock;

const MS_PER_DAY: u64 = 24 * 60 * 60 * 1_000;
const SCHEMA: &str = "CREATE TABLE IF NOT EXISTS objects (
    bucket TEXT NOT NULL, key TEXT NOT NULL, content_type TEXT NOT NULL, content_disposition TEXT, name TEXT,
    etag TEXT NOT NULL, modified_ms INTEGER NOT NULL, body BLOB NOT NULL, PRIMARY KEY (bucket, key)
) STRICT";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BucketDefinition {
    pub name: String,
    pub rules: Vec<LifecycleRule>,
}

/// Deletes objects a number of days after they were stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LifecycleRule {
    pub prefix: String,
    pub days: u64,
}

#[derive(Debug, thiserror::Error)]
#[error("the files cannot be read or written: {0}")]
pub struct StorageError(#[from] rusqlite::Error);

/// Clones share the objects.
#[derive(Clone)]
pub struct Objects {
    connection: Arc<Mutex<Connection>>,
    buckets: Arc<Vec<BucketDefinition>>,
    clock: Clock,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Object {
    pub content_type: String,
    pub content_disposition: Option<String>,
    /// The metadata `x-amz-meta-name`.
    pub name: Option<String>,
    /// The MD5 hash of the body in quotation marks.
    pub etag: String,
    pub modified_ms: u64,
    pub body: Vec<u8>,
}

impl Objects {
    /// Opens the objects. They are lost when the process ends if there is no `path`.
    pub fn open(path: Option<&Path>, buckets: Vec<BucketDefinition>, clock: Clock) -> Result<Self, StorageError> {
        let connection = path.map_or_else(Connection::open_in_memory, Connection::open)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        connection.execute_batch(SCHEMA)?;
        Ok(Self { connection: Arc::new(Mutex::new(connection)), buckets: Arc::new(buckets), clock })
    }

    /// Returns the keys of all objects of a bucket that begin with the prefix, each with the size of its object.
    ///
    /// # Errors
    /// Fails if the database cannot be read.
    pub fn keys(&self, bucket: &str, prefix: &str) -> Result<Vec<(String, u64)>, StorageError> {
        let connection = self.unexpired()?;
        let mut statement = connection.prepare(
            "SELECT key, length(body) FROM objects WHERE bucket = ?1 AND substr(key, 1, length(?2)) = ?2 ORDER BY key",
        )?;
        let rows = statement.query_map(params![bucket, prefix], |row| Ok((row.get(0)?, row.get::<_, i64>(1)?)))?;
        let rows = rows.map(|row| row.map(|(key, size)| (key, u64::try_from(size).unwrap_or_default())));
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Stores the bytes of an object that no browser opens.
    pub(crate) fn store(&self, bucket: &str, key: &str, body: Vec<u8>) -> Result<(), StorageError> {
        let content_type = "application/octet-stream".to_owned();
        self.put(bucket, key, Object { content_type, body, ..Object::default() }).map(drop)
    }

    pub(super) fn has_bucket(&self, bucket: &str) -> bool {
        self.buckets.iter().any(|definition| definition.name == bucket)
    }

    pub(super) fn clock(&self) -> &Clock {
        &self.clock
    }

    pub(super) fn get(&self, bucket: &str, key: &str) -> Result<Option<Object>, StorageError> {
        let query = "SELECT content_type, content_disposition, name, etag, modified_ms, body FROM objects
                     WHERE bucket = ?1 AND key = ?2";
        Ok(self.unexpired()?.query_row(query, params![bucket, key], read_object).optional()?)
    }

    /// Stores an object. Its `etag` and its time are computed.
    pub(super) fn put(&self, bucket: &str, key: &str, object: Object) -> Result<Object, StorageError> {
        let etag = format!("\"{:x}\"", md5::compute(&object.body));
        let object = Object { etag, modified_ms: self.clock.now_ms(), ..object };
        self.lock().execute(
            "REPLACE INTO objects (bucket, key, content_type, content_disposition, name, etag, modified_ms, body)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            params![
                bucket,
                key,
                object.content_type,
                object.content_disposition,
                object.name,
                object.etag,
                i64::try_from(object.modified_ms).unwrap_or_default(),
                object.body
            ],
        )?;
        Ok(object)
    }

    pub(super) fn delete(&self, bucket: &str, key: &str) -> Result<(), StorageError> {
        self.lock().execute("DELETE FROM objects WHERE bucket = ?1 AND key = ?2", params![bucket, key])?;
        Ok(())
    }

    fn unexpired(&self) -> Result<MutexGuard<'_, Connection>, StorageError> {
        let connection = self.lock();
        for bucket in self.buckets.iter() {
            for LifecycleRule { prefix, days } in &bucket.rules {
                let oldest = self.clock.now_ms().saturating_sub(days * MS_PER_DAY);
                connection.execute(
                    "DELETE FROM objects WHERE bucket = ?1 AND substr(key, 1, length(?2)) = ?2 AND modified_ms < ?3",
                    params![bucket.name, prefix, i64::try_from(oldest).unwrap_or_default()],
                )?;
            }
        }
        Ok(connection)
    }

    fn lock(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn read_object(row: &Row<'_>) -> rusqlite::Result<Object> {
    Ok(Object {
        content_type: row.get(0)?,
        content_disposition: row.get(1)?,
        name: row.get(2)?,
        etag: row.get(3)?,
        modified_ms: u64::try_from(row.get::<_, i64>(4)?).unwrap_or_default(),
        body: row.get(5)?,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::time::Duration;

    use super::*;

    #[test]
    fn object_expires_by_the_rule_of_its_prefix() {
        let clock = Clock::new().unwrap();
        let rules = vec![LifecycleRule { prefix: "pending/".into(), days: 1 }];
        let buckets = vec![BucketDefinition { name: "b".into(), rules }];
        let objects = Objects::open(None, buckets, clock.clone()).unwrap();
        for key in ["pending/a", "files/a"] {
            objects.put("b", key, Object { body: b"abc".to_vec(), ..Object::default() }).unwrap();
        }
        assert_eq!(objects.keys("b", "pending/").unwrap(), [("pending/a".to_owned(), 3)]);
        clock.advance_by(Duration::from_secs(25 * 60 * 60)).unwrap();
        assert_eq!(objects.keys("b", "").unwrap(), [("files/a".to_owned(), 3)]);
        assert!(objects.get("b", "pending/a").unwrap().is_none());
        assert_eq!(objects.get("b", "files/a").unwrap().unwrap().etag, "\"900150983cd24fb0d6963f7d28e17f72\"");
    }
}
