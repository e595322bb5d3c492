//! The database files for tables and queues in the data folder, and the lock that prevents a second host from using the
//! folder.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use crate::file_store::{create_private_folder, make_private_file};
use crate::{Error, HostStorage, dynamo, sqs};

pub(crate) struct DatabaseFiles {
    /// The database file for the tables. `None` keeps the tables in memory.
    pub tables: Option<PathBuf>,
    pub queues: sqs::QueueDatabaseLocation,
    /// The database file for uploaded files. `None` keeps them in memory.
    pub objects: Option<PathBuf>,
    /// The file for the AWS accounts of customers. `None` keeps them in memory.
    pub customer_aws: Option<PathBuf>,
    /// The file for sent e-mails. `None` keeps them in memory.
    pub emails: Option<PathBuf>,
    pub lock: Option<DataFolderLock>,
}

/// An exclusive lock on a data folder. Dropping it releases the lock. The operating system also releases the lock if
/// the host is killed with `kill -9`.
pub(crate) struct DataFolderLock(File);

impl Drop for DataFolderLock {
    fn drop(&mut self) {
        // Closing the file is not enough, because a child process shares the open file between fork and exec. An error
        // means that the lock is already released.
        let _ = self.0.unlock();
    }
}

impl DatabaseFiles {
    pub fn open(storage: &HostStorage) -> Result<Self, Error> {
        match storage {
            HostStorage::Memory => {
                let queues = sqs::QueueDatabaseLocation::Memory;
                Ok(Self { tables: None, queues, objects: None, customer_aws: None, emails: None, lock: None })
            }
            HostStorage::Dir(folder) => {
                let lock = Some(lock(folder)?);
                Ok(Self {
                    lock,
                    tables: Some(private_database(folder, "dynamodb.sqlite")?),
                    queues: sqs::QueueDatabaseLocation::File(private_database(folder, "sqs.sqlite")?),
                    objects: Some(private_database(folder, "s3.sqlite")?),
                    customer_aws: Some(folder.join("customer-aws.jsonl")),
                    emails: Some(folder.join("ses.jsonl")),
                })
            }
        }
    }
}

/// Returns the path of a database file that only the current user can access. SQLite gives the files that it creates
/// beside a database the mode of the database. Existing ones may be older than this rule.
fn private_database(folder: &Path, name: &str) -> Result<PathBuf, Error> {
    let path = folder.join(name);
    let existing = ["-wal", "-shm"].map(|suffix| folder.join(format!("{name}{suffix}"))).into_iter();
    for file in std::iter::once(path.clone()).chain(existing.filter(|file| file.exists())) {
        make_private_file(&file).map_err(|source| Error::DataFolder { path: folder.to_owned(), source })?;
    }
    Ok(path)
}

/// If the data folder's contents caused the error, adds the folder's path to it, so that the message can suggest a
/// remedy.
pub(crate) fn add_data_folder_path(storage: &HostStorage, error: Error) -> Error {
    match (storage, &error) {
        (
            HostStorage::Dir(path),
            Error::Tables(dynamo::Error::Outdated { .. } | dynamo::Error::Open(_))
            | Error::Queues(sqs::Error::Storage(_))
            | Error::Objects(_),
        ) => Error::UnusableData { path: path.clone(), source: Box::new(error) },
        _ => error,
    }
}

fn lock(folder: &Path) -> Result<DataFolderLock, Error> {
    let unusable = |source| Error::DataFolder { path: folder.to_owned(), source };
    create_private_folder(folder).map_err(unusable)?;
    let path = folder.join("host.lock");
    make_private_file(&path).map_err(unusable)?;
    let file = File::create(path).map_err(unusable)?;
    match file.try_lock() {
        Ok(()) => Ok(DataFolderLock(file)),
        Err(TryLockError::WouldBlock) => Err(Error::DataFolderInUse(folder.to_owned())),
        Err(TryLockError::Error(source)) => Err(unusable(source)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lock_is_released_although_a_child_still_has_the_file_open() {
        let folder = tempfile::tempdir().unwrap();
        let lock_of_host = lock(folder.path()).unwrap();
        // A clone of the file shares the lock, as does the file that a child process inherits.
        let _inherited = lock_of_host.0.try_clone().unwrap();
        assert!(matches!(lock(folder.path()), Err(Error::DataFolderInUse(_))));
        drop(lock_of_host);
        assert!(lock(folder.path()).is_ok());
    }
}
