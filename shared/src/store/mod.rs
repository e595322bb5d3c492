//! DynamoDB: three tables (docs/design.md, What lies where). Items are private to this module; what comes out are
//! `domain` types.

pub mod agent_writes;
pub mod agents;
mod bot_rate;
mod bot_writes;
mod bots;
pub mod breakers;
mod cache;
mod chat_items;
mod chat_limit;
pub mod chat_log;
pub mod chats;
pub mod connections;
pub mod deliveries;
mod departments;
pub mod directory;
mod directory_items;
mod erasure;
pub mod idempotency;
mod idle;
pub mod ledger;
pub mod listing;
pub mod login_attempts;
mod offline_messages;
mod panels;
mod refusals;
pub mod retention;
mod settings;
pub mod table;
mod transfers;
pub mod transitions;
pub mod visitor_writes;
mod visitors;

#[cfg(test)]
mod tests;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::Error;
use table::Item;

/// How often a write that lost a race is tried with what is there now.
const RACES: usize = 8;

fn to_item<T: Serialize>(value: &T) -> Result<Item, Error> {
    serde_dynamo::to_item(value).map_err(Error::internal)
}

fn from_item<T: DeserializeOwned>(item: Item) -> Result<T, Error> {
    serde_dynamo::from_item(item).map_err(Error::internal)
}

fn to_attribute<T: Serialize>(value: &T) -> Result<aws_sdk_dynamodb::types::AttributeValue, Error> {
    serde_dynamo::to_attribute_value(value).map_err(Error::internal)
}
