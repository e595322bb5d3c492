//! DynamoDB access, with one folder for each table (docs/design.md). The types of stored items are private to this
//! module; callers use `domain` types and the parameter and result types of the stores.

pub mod account_deletion;
pub mod account_work;
pub mod cache;
pub mod chats;
pub mod connections;
pub mod directory;
pub mod key_usage;
pub mod table;
pub mod table_changes;
pub(crate) mod write_races;

#[cfg(test)]
pub(crate) mod tests;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::Error;
use table::Item;

pub(crate) fn to_item<T: Serialize>(value: &T) -> Result<Item, Error> {
    serde_dynamo::to_item(value).map_err(Error::internal)
}

pub(crate) fn from_item<T: DeserializeOwned>(item: Item) -> Result<T, Error> {
    serde_dynamo::from_item(item).map_err(Error::internal)
}

pub(crate) fn to_attribute<T: Serialize>(value: &T) -> Result<aws_sdk_dynamodb::types::AttributeValue, Error> {
    serde_dynamo::to_attribute_value(value).map_err(Error::internal)
}
