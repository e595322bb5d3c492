//! The data folder: who may use it, and what lies in it.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use crate::{Error, Storage, sqs};

/// The files of one host.
pub(crate) struct Data {
    /// Tables; `None` keeps them in memory.
    pub tables: Option<PathBuf>,
    /// Queues.
    pub queues: sqs::Storage,
    /// Locked as long as it is open; the system releases it even after `kill -9`.
    pub lock: Option<File>,
}

impl Data {
    pub fn open(storage: &Storage) -> Result<Self, Error> {
        match storage {
            Storage::Memory => Ok(Self { tables: None, queues: sqs::Storage::Memory, lock: None }),
            Storage::Dir(folder) => Ok(Self {
                lock: Some(lock(folder)?),
                tables: Some(folder.join("dynamodb.sqlite")),
                queues: sqs::Storage::File(folder.join("sqs.sqlite")),
            }),
        }
    }
}

fn lock(folder: &Path) -> Result<File, Error> {
    let unusable = |source| Error::Data { path: folder.to_owned(), source };
    fs::create_dir_all(folder).map_err(unusable)?;
    let file = File::create(folder.join("host.lock")).map_err(unusable)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Error::DataInUse(folder.to_owned())),
        Err(TryLockError::Error(source)) => Err(unusable(source)),
    }
}
