//! The data folder: who may use it, and what lies in it.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use crate::home::private_folder;
use crate::{Error, Storage, dynamo, sqs};

/// The files of one host.
pub(crate) struct Data {
    /// Tables; `None` keeps them in memory.
    pub tables: Option<PathBuf>,
    /// Queues.
    pub queues: sqs::Storage,
    pub lock: Option<Lock>,
}

/// Keeps other hosts off a data folder until it is dropped; the system releases it even after `kill -9`.
pub(crate) struct Lock(File);

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing the file alone would not do: a child that is just being started has it open too, until its program
        // runs. An error means that there is no lock any more.
        let _ = self.0.unlock();
    }
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

/// What the data folder holds is of no use: which folder that is, and what to do about it.
pub(crate) fn blamed_on(storage: &Storage, error: Error) -> Error {
    match (storage, &error) {
        (
            Storage::Dir(path),
            Error::Tables(dynamo::Error::Outdated { .. } | dynamo::Error::Open(_))
            | Error::Queues(sqs::Error::Storage(_)),
        ) => Error::Unusable { path: path.clone(), source: Box::new(error) },
        _ => error,
    }
}

fn lock(folder: &Path) -> Result<Lock, Error> {
    let unusable = |source| Error::Data { path: folder.to_owned(), source };
    private_folder(folder).map_err(unusable)?;
    let file = File::create(folder.join("host.lock")).map_err(unusable)?;
    match file.try_lock() {
        Ok(()) => Ok(Lock(file)),
        Err(TryLockError::WouldBlock) => Err(Error::DataInUse(folder.to_owned())),
        Err(TryLockError::Error(source)) => Err(unusable(source)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_free_when_its_host_is_gone_although_a_child_still_has_the_file_open() {
        let folder = tempfile::tempdir().unwrap();
        let held = lock(folder.path()).unwrap();
        // What a child gets from its parent shares the lock, as a clone does.
        let _of_child = held.0.try_clone().unwrap();
        assert!(matches!(lock(folder.path()), Err(Error::DataInUse(_))));
        drop(held);
        assert!(lock(folder.path()).is_ok());
    }
}
