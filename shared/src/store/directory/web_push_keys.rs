//! The key pairs with which accounts sign requests to push services, in the Directory table. A key is created when it
//! is first needed, and never changes: the browsers that have subscribed with it would get nothing more.

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;

use crate::domain::accounts::web_push::WebPushKey;
use crate::error::Error;
use crate::runtime::random_ids_and_secrets::random_web_push_key;
use crate::store::directory::Directory;
use crate::store::directory::keys::web_push_key;
use crate::store::table::{Item, WriteError, s};

impl Directory {
    /// Returns the account's key pair. `None` if nobody has needed it yet.
    pub async fn web_push_key(&self, account_id: &str) -> Result<Option<WebPushKey>, Error> {
        let Some(item) = self.table.get(web_push_key(account_id)).await? else { return Ok(None) };
        let bytes = |name: &str| {
            let bytes = item.get(name).and_then(|value| value.as_b().ok());
            bytes.map(|bytes| bytes.as_ref().to_vec()).ok_or_else(|| Error::internal("Web Push key"))
        };
        Ok(Some(WebPushKey { private_key: bytes("private_key")?, public_key: bytes("public_key")? }))
    }

    /// Returns the account's key pair, which is created if there is none.
    pub async fn web_push_key_or_new(&self, account_id: &str) -> Result<WebPushKey, Error> {
        if let Some(key) = self.web_push_key(account_id).await? {
            return Ok(key);
        }
        let key = random_web_push_key()?;
        match self.table.put(item(account_id, &key), true).await {
            Ok(_) => Ok(key),
            // A concurrent request has created one.
            Err(WriteError::ConditionFailed { .. }) => {
                self.web_push_key(account_id).await?.ok_or_else(|| Error::internal("Web Push key"))
            }
            Err(WriteError::Contended) => Err(Error::internal("contended Web Push key")),
            Err(WriteError::Error(error)) => Err(error),
        }
    }
}

fn item(account_id: &str, key: &WebPushKey) -> Item {
    let id = web_push_key(account_id);
    let bytes = |bytes: &[u8]| AttributeValue::B(Blob::new(bytes));
    let attributes = [
        ("pk", s(id.pk)),
        ("sk", s(id.sk)),
        ("private_key", bytes(&key.private_key)),
        ("public_key", bytes(&key.public_key)),
    ];
    attributes.map(|(name, value)| (name.to_owned(), value)).into_iter().collect()
}
