//! Creates the template's tables that do not exist yet, and updates tables from an earlier run: adds missing indexes,
//! enables or disables the streams, and enables the deletion of expired items. Fails if a table's key, or an index that
//! the template names, is not as in the template.

use dynoxide::Database;
use dynoxide::errors::DynoxideError;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::error::Error;
use crate::template::{IndexDefinition, TableDefinition};

pub(super) fn create_or_update_tables(database: &Database, tables: &[TableDefinition]) -> Result<(), Error> {
    tables.iter().try_for_each(|table| create_or_update_table(database, table))
}

fn create_or_update_table(database: &Database, table: &TableDefinition) -> Result<(), Error> {
    match describe_table(database, table)? {
        Some(existing) => update_table(database, table, &existing)?,
        None => {
            database.create_table(request(table, create_table_request(table))?)?;
        }
    }
    set_stream(database, table)?;
    enable_ttl(database, table)
}

/// Returns the table's description, or `None` if the table does not exist.
fn describe_table(database: &Database, table: &TableDefinition) -> Result<Option<Value>, Error> {
    let describe_request = request(table, json!({"TableName": table.name}))?;
    match database.describe_table(describe_request) {
        Ok(described) => {
            let response = json!(described);
            Ok(Some(response.get("Table").cloned().unwrap_or_default()))
        }
        Err(DynoxideError::ResourceNotFoundException(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn create_table_request(table: &TableDefinition) -> Value {
    // DynamoDB rejects an empty list.
    let indexes: Option<Value> =
        (!table.indexes.is_empty()).then(|| table.indexes.iter().map(index_definition).collect());
    json!({
        "TableName": table.name,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": table.attribute_definitions,
        "KeySchema": table.key_schema,
        "GlobalSecondaryIndexes": indexes,
    })
}

fn index_definition(index: &IndexDefinition) -> Value {
    json!({"IndexName": index.name, "KeySchema": index.key_schema, "Projection": index.projection})
}

/// Adds missing indexes. Fails if the key schema or an existing index differs from the template.
fn update_table(database: &Database, table: &TableDefinition, existing: &Value) -> Result<(), Error> {
    if existing.get("KeySchema") != Some(&table.key_schema) {
        return Err(outdated(table, "its key"));
    }
    for expected in &table.indexes {
        match find_index(existing, &expected.name) {
            None => add_index(database, table, expected)?,
            Some(stored) if is_same(stored, expected) => {}
            Some(_) => return Err(outdated(table, &format!("index {}", expected.name))),
        }
    }
    Ok(())
}

fn find_index<'t>(existing: &'t Value, name: &str) -> Option<&'t Value> {
    let indexes = existing.get("GlobalSecondaryIndexes")?.as_array()?;
    indexes.iter().find(|index| index.get("IndexName").is_some_and(|index_name| index_name == name))
}

fn is_same(stored: &Value, expected: &IndexDefinition) -> bool {
    stored.get("KeySchema") == Some(&expected.key_schema) && stored.get("Projection") == Some(&expected.projection)
}

fn add_index(database: &Database, table: &TableDefinition, expected: &IndexDefinition) -> Result<(), Error> {
    let update = json!({
        "TableName": table.name,
        "AttributeDefinitions": table.attribute_definitions,
        "GlobalSecondaryIndexUpdates": [{"Create": index_definition(expected)}],
    });
    database.update_table(request(table, update)?)?;
    Ok(())
}

fn set_stream(database: &Database, table: &TableDefinition) -> Result<(), Error> {
    let existing = describe_table(database, table)?.unwrap_or_default();
    if existing.get("StreamSpecification").is_some() == table.has_stream {
        return Ok(());
    }
    let view_type = table.has_stream.then_some("NEW_AND_OLD_IMAGES");
    let specification = json!({"StreamEnabled": table.has_stream, "StreamViewType": view_type});
    let update = json!({"TableName": table.name, "StreamSpecification": specification});
    database.update_table(request(table, update)?)?;
    Ok(())
}

fn enable_ttl(database: &Database, table: &TableDefinition) -> Result<(), Error> {
    let describe_request = request(table, json!({"TableName": table.name}))?;
    let current = json!(database.describe_time_to_live(describe_request)?);
    let current = current.pointer("/TimeToLiveDescription/AttributeName");
    let Some(attribute) = &table.ttl_attribute else {
        return Ok(());
    };
    if current.is_some_and(|current| current == attribute) {
        return Ok(());
    }
    let setting = json!({"AttributeName": attribute, "Enabled": true});
    let update = json!({"TableName": table.name, "TimeToLiveSpecification": setting});
    database.update_time_to_live(request(table, update)?)?;
    Ok(())
}

fn request<T: DeserializeOwned>(table: &TableDefinition, value: Value) -> Result<T, Error> {
    serde_json::from_value(value).map_err(|source| Error::Definition { table: table.name.clone(), source })
}

fn outdated(table: &TableDefinition, difference: &str) -> Error {
    Error::Outdated { table: table.name.clone(), difference: difference.to_owned() }
}
