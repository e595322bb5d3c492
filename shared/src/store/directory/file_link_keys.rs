//! The keys with which accounts sign the links to their files, in the Directory table. A key is created with the first
//! upload, and never changes: all links that were sent would end.

use std::sync::Arc;

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;

use crate::domain::files::file_link::FileLinkKey;
use crate::error::Error;
use crate::runtime::random_ids_and_secrets::random_bytes;
use crate::store::directory::Directory;
use crate::store::directory::keys::file_link_key;
use crate::store::table::{Item, WriteError, s};

const ATTRIBUTE: &str = "key";

impl Directory {
    /// Returns the account's key. `None` if nobody has uploaded a file yet.
    pub(crate) async fn file_link_key(&self, account_id: &str) -> Result<Option<Arc<FileLinkKey>>, Error> {
        match self.file_link_keys.get(account_id) {
            Some(Some(cached)) => Ok(Some(cached)),
            // A new account gets its key at any time, so the absence of a key is not remembered.
            Some(None) | None => match self.stored_file_link_key(account_id).await? {
                Some(key) => Ok(self.file_link_keys.put(account_id, Some(key))),
                None => Ok(None),
            },
        }
    }

    /// Returns the account's key, which is created if there is none.
    pub(crate) async fn file_link_key_or_new(&self, account_id: &str) -> Result<Arc<FileLinkKey>, Error> {
        if let Some(key) = self.file_link_key(account_id).await? {
            return Ok(key);
        }
        match self.table.put(item(account_id, &FileLinkKey(random_bytes()?)), true).await {
            // A concurrent request may have created one.
            Ok(_) | Err(WriteError::ConditionFailed { .. }) => {
                self.file_link_key(account_id).await?.ok_or_else(|| Error::internal("key of file links"))
            }
            Err(WriteError::Contended) => Err(Error::internal("contended key of file links")),
            Err(WriteError::Error(error)) => Err(error),
        }
    }

    async fn stored_file_link_key(&self, account_id: &str) -> Result<Option<FileLinkKey>, Error> {
        let Some(item) = self.table.get(file_link_key(account_id)).await? else { return Ok(None) };
        let bytes = item.get(ATTRIBUTE).and_then(|value| value.as_b().ok());
        let key = bytes.and_then(|bytes| bytes.as_ref().try_into().ok());
        key.map(|key| Some(FileLinkKey(key))).ok_or_else(|| Error::internal("key of file links"))
    }
}

fn item(account_id: &str, key: &FileLinkKey) -> Item {
    let id = file_link_key(account_id);
    let attributes = [("pk", s(id.pk)), ("sk", s(id.sk)), (ATTRIBUTE, AttributeValue::B(Blob::new(key.0)))];
    attributes.map(|(name, value)| (name.to_owned(), value)).into_iter().collect()
}
