//! `AWS::DynamoDB::Table`.

use serde_json::{Value, json};

use super::cursor::Cursor;
use super::error::Error;

/// A table, in the JSON of DynamoDB's own API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// Its logical id, which is its name here.
    pub name: String,
    /// `AttributeDefinitions`.
    pub attributes: Value,
    /// `KeySchema`.
    pub keys: Value,
    /// `GlobalSecondaryIndexes`.
    pub indexes: Vec<Index>,
    /// The attribute that says when an item expires.
    pub expires_by: Option<String>,
}

/// A global secondary index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Index {
    /// `IndexName`.
    pub name: String,
    /// `KeySchema`.
    pub keys: Value,
    /// `Projection`.
    pub projection: Value,
}

pub(super) fn read(logical_id: &str, properties: &Cursor<'_>) -> Result<Table, Error> {
    let indexes = properties.get("GlobalSecondaryIndexes")?.map(|list| list.items()).transpose()?;
    let indexes: Result<_, _> = indexes.unwrap_or_default().iter().map(index).collect();
    Ok(Table {
        name: logical_id.to_owned(),
        attributes: pairs(&properties.require("AttributeDefinitions")?, "AttributeName", "AttributeType")?,
        keys: keys(properties)?,
        indexes: indexes?,
        expires_by: expires_by(properties)?,
    })
}

fn index(index: &Cursor<'_>) -> Result<Index, Error> {
    Ok(Index {
        name: index.require("IndexName")?.text()?,
        keys: keys(index)?,
        projection: projection(&index.require("Projection")?)?,
    })
}

fn keys(of: &Cursor<'_>) -> Result<Value, Error> {
    pairs(&of.require("KeySchema")?, "AttributeName", "KeyType")
}

fn pairs(list: &Cursor<'_>, first: &'static str, second: &'static str) -> Result<Value, Error> {
    let pair =
        |item: &Cursor<'_>| Ok(json!({first: item.require(first)?.text()?, second: item.require(second)?.text()?}));
    let pairs: Result<Vec<_>, Error> = list.items()?.iter().map(pair).collect();
    Ok(Value::Array(pairs?))
}

fn projection(projection: &Cursor<'_>) -> Result<Value, Error> {
    let kind = projection.require("ProjectionType")?.text()?;
    let Some(names) = projection.get("NonKeyAttributes")? else {
        return Ok(json!({"ProjectionType": kind}));
    };
    let names: Result<Vec<_>, _> = names.items()?.iter().map(Cursor::text).collect();
    Ok(json!({"ProjectionType": kind, "NonKeyAttributes": names?}))
}

fn expires_by(properties: &Cursor<'_>) -> Result<Option<String>, Error> {
    let Some(setting) = properties.get("TimeToLiveSpecification")? else {
        return Ok(None);
    };
    if !setting.require("Enabled")?.flag()? {
        return Ok(None);
    }
    setting.require("AttributeName")?.text().map(Some)
}
