//! Makes the template's tables, or sees that those of an earlier run are still the template's.

use dynoxide::Database;
use dynoxide::errors::DynoxideError;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::Error;
use crate::template::{Index, Table};

pub(super) fn prepare(database: &Database, tables: &[Table]) -> Result<(), Error> {
    tables.iter().try_for_each(|table| prepare_table(database, table))
}

fn prepare_table(database: &Database, table: &Table) -> Result<(), Error> {
    match describe(database, table)? {
        Some(existing) => update(database, table, &existing)?,
        None => {
            database.create_table(request(table, creation(table))?)?;
        }
    }
    set_expiry(database, table)
}

/// The table as DynamoDB describes it.
fn describe(database: &Database, table: &Table) -> Result<Option<Value>, Error> {
    let description = request(table, json!({"TableName": table.name}))?;
    match database.describe_table(description) {
        Ok(described) => {
            let described = json!(described);
            Ok(Some(described.get("Table").cloned().unwrap_or_default()))
        }
        Err(DynoxideError::ResourceNotFoundException(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn creation(table: &Table) -> Value {
    // DynamoDB takes no empty list.
    let indexes: Option<Value> = (!table.indexes.is_empty()).then(|| table.indexes.iter().map(index).collect());
    json!({
        "TableName": table.name,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": table.attributes,
        "KeySchema": table.keys,
        "GlobalSecondaryIndexes": indexes,
    })
}

fn index(index: &Index) -> Value {
    json!({"IndexName": index.name, "KeySchema": index.keys, "Projection": index.projection})
}

/// Adds indexes that are new in the template. Everything else about a table's keys is for ever.
fn update(database: &Database, table: &Table, existing: &Value) -> Result<(), Error> {
    if existing.get("KeySchema") != Some(&table.keys) {
        return Err(outdated(table, "its key"));
    }
    for wanted in &table.indexes {
        match find_index(existing, &wanted.name) {
            None => add_index(database, table, wanted)?,
            Some(found) if is_same(found, wanted) => {}
            Some(_) => return Err(outdated(table, &format!("index {}", wanted.name))),
        }
    }
    Ok(())
}

fn find_index<'t>(existing: &'t Value, name: &str) -> Option<&'t Value> {
    let indexes = existing.get("GlobalSecondaryIndexes")?.as_array()?;
    indexes.iter().find(|index| index.get("IndexName").is_some_and(|found| found == name))
}

fn is_same(found: &Value, wanted: &Index) -> bool {
    found.get("KeySchema") == Some(&wanted.keys) && found.get("Projection") == Some(&wanted.projection)
}

fn add_index(database: &Database, table: &Table, wanted: &Index) -> Result<(), Error> {
    let update = json!({
        "TableName": table.name,
        "AttributeDefinitions": table.attributes,
        "GlobalSecondaryIndexUpdates": [{"Create": index(wanted)}],
    });
    database.update_table(request(table, update)?)?;
    Ok(())
}

fn set_expiry(database: &Database, table: &Table) -> Result<(), Error> {
    let description = request(table, json!({"TableName": table.name}))?;
    let current = json!(database.describe_time_to_live(description)?);
    let current = current.pointer("/TimeToLiveDescription/AttributeName");
    let Some(attribute) = &table.expires_by else {
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

fn request<T: DeserializeOwned>(table: &Table, value: Value) -> Result<T, Error> {
    serde_json::from_value(value).map_err(|source| Error::Definition { table: table.name.clone(), source })
}

fn outdated(table: &Table, what: &str) -> Error {
    Error::Outdated { table: table.name.clone(), what: what.to_owned() }
}
