//! Reads `AWS::DynamoDB::Table`.

use serde_json::{Value, json};

use super::error::Error;
use super::evaluated_value::EvaluatedValue;

/// A table of the template. The JSON values are in the format of the DynamoDB API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableDefinition {
    /// The logical id, which is also the name of the local table.
    pub name: String,
    pub attribute_definitions: Value,
    pub key_schema: Value,
    pub indexes: Vec<IndexDefinition>,
    /// The attribute that stores an item's expiry time, if time to live is enabled.
    pub ttl_attribute: Option<String>,
    /// Whether the table has a stream. The stream's records contain the old image and the new image of an item.
    pub has_stream: bool,
}

/// A global secondary index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexDefinition {
    pub name: String,
    pub key_schema: Value,
    pub projection: Value,
}

impl TableDefinition {
    pub(crate) fn partition_key(&self) -> &str {
        let keys = self.key_schema.as_array().into_iter().flatten();
        let mut keys = keys.filter(|key| key.get("KeyType").is_some_and(|key_type| key_type == "HASH"));
        keys.next().and_then(|key| key.get("AttributeName")?.as_str()).unwrap_or_default()
    }
}

pub(super) fn read(logical_id: &str, properties: &EvaluatedValue<'_>) -> Result<TableDefinition, Error> {
    let indexes = properties.get("GlobalSecondaryIndexes")?.map(|list| list.items()).transpose()?;
    let indexes: Result<_, _> = indexes.unwrap_or_default().iter().map(read_index).collect();
    let attributes = properties.require("AttributeDefinitions")?;
    Ok(TableDefinition {
        name: logical_id.to_owned(),
        attribute_definitions: string_pairs(&attributes, "AttributeName", "AttributeType")?,
        key_schema: key_schema(properties)?,
        indexes: indexes?,
        ttl_attribute: ttl_attribute(properties)?,
        has_stream: has_stream(properties)?,
    })
}

fn read_index(index: &EvaluatedValue<'_>) -> Result<IndexDefinition, Error> {
    Ok(IndexDefinition {
        name: index.require("IndexName")?.text()?,
        key_schema: key_schema(index)?,
        projection: projection(&index.require("Projection")?)?,
    })
}

fn key_schema(table_or_index: &EvaluatedValue<'_>) -> Result<Value, Error> {
    string_pairs(&table_or_index.require("KeySchema")?, "AttributeName", "KeyType")
}

fn string_pairs(list: &EvaluatedValue<'_>, first: &'static str, second: &'static str) -> Result<Value, Error> {
    let pair = |item: &EvaluatedValue<'_>| {
        Ok(json!({first: item.require(first)?.text()?, second: item.require(second)?.text()?}))
    };
    let pairs: Result<Vec<_>, Error> = list.items()?.iter().map(pair).collect();
    Ok(Value::Array(pairs?))
}

fn projection(projection: &EvaluatedValue<'_>) -> Result<Value, Error> {
    let projection_type = projection.require("ProjectionType")?.text()?;
    let Some(attributes) = projection.get("NonKeyAttributes")? else {
        return Ok(json!({"ProjectionType": projection_type}));
    };
    let attributes: Result<Vec<_>, _> = attributes.items()?.iter().map(EvaluatedValue::text).collect();
    Ok(json!({"ProjectionType": projection_type, "NonKeyAttributes": attributes?}))
}

fn ttl_attribute(properties: &EvaluatedValue<'_>) -> Result<Option<String>, Error> {
    let Some(specification) = properties.get("TimeToLiveSpecification")? else {
        return Ok(None);
    };
    if !specification.require("Enabled")?.boolean()? {
        return Ok(None);
    }
    specification.require("AttributeName")?.text().map(Some)
}

/// Returns whether the table has a stream. View types other than `NEW_AND_OLD_IMAGES` are rejected, because the local
/// host compares the images to find out whether a write changed the item.
fn has_stream(properties: &EvaluatedValue<'_>) -> Result<bool, Error> {
    let Some(specification) = properties.get("StreamSpecification")? else {
        return Ok(false);
    };
    let view_type = specification.require("StreamViewType")?;
    if view_type.text()? != "NEW_AND_OLD_IMAGES" {
        return Err(view_type.unexpected_value("NEW_AND_OLD_IMAGES"));
    }
    Ok(true)
}
