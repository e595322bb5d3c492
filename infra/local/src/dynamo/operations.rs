//! Runs the requests of the DynamoDB API on the engine.
//!
//! The engine also has an HTTP server. It is not used here: each request would take a second HTTP request, and the
//! server parses every body several times.

use dynoxide::{Database, DynoxideError};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Runs a request and returns the body of the response. Supports the operations on items, which are those that consume
/// capacity units (`capacity_units` in `proxy.rs`).
pub(super) fn run(database: &Database, operation: &str, body: &[u8]) -> Result<Vec<u8>, DynoxideError> {
    match operation {
        "GetItem" => call(body, |request| database.get_item(request)),
        "PutItem" => call(body, |request| database.put_item(request)),
        "UpdateItem" => call(body, |request| database.update_item(request)),
        "DeleteItem" => call(body, |request| database.delete_item(request)),
        "Query" => call(body, |request| database.query(request)),
        "Scan" => call(body, |request| database.scan(request)),
        "BatchGetItem" => call(body, |request| database.batch_get_item(request)),
        "BatchWriteItem" => call(body, |request| database.batch_write_item(request)),
        "TransactGetItems" => call(body, |request| database.transact_get_items(request)),
        "TransactWriteItems" => call(body, |request| database.transact_write_items(request)),
        _ => Err(DynoxideError::UnsupportedCapability(format!("the local tables do not support {operation:?}"))),
    }
}

fn call<Q: DeserializeOwned, R: Serialize>(
    body: &[u8],
    execute: impl FnOnce(Q) -> Result<R, DynoxideError>,
) -> Result<Vec<u8>, DynoxideError> {
    let request = serde_json::from_slice(body).map_err(|error| invalid_request(&error.to_string()))?;
    let response = serde_json::to_vec(&execute(request)?);
    response.map_err(|error| DynoxideError::InternalServerError(error.to_string()))
}

/// Returns DynamoDB's error for a body that the engine cannot read. The engine's messages start with the kind of the
/// error, as in `VALIDATION:Number overflow`. Other messages come from the JSON parser. The position that a message
/// names is removed, because the body is not exactly what the function sent.
fn invalid_request(error: &str) -> DynoxideError {
    let (error, _) = error.rsplit_once(" at line ").unwrap_or((error, ""));
    match error.split_once(':') {
        Some((kind, message)) if kind.starts_with("VALIDATION") => {
            DynoxideError::ValidationException(message.to_owned())
        }
        Some((kind, message)) if kind.starts_with("SERIALIZATION") => {
            DynoxideError::SerializationException(message.to_owned())
        }
        _ => DynoxideError::SerializationException(error.to_owned()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn invalid_requests_get_the_errors_of_dynamodb() {
        let database = Database::memory().unwrap();
        let table = json!({
            "TableName": "Items",
            "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
            "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        });
        database.create_table(serde_json::from_value(table).unwrap()).unwrap();
        let put = |value: Value| json!({"TableName": "Items", "Item": {"pk": {"S": "a"}, "value": value}}).to_string();
        for (operation, body, status, error_type, message) in [
            ("ListTables", "{}".to_owned(), 501, "UnsupportedOperation", "ListTables"),
            ("PutItem", "{".to_owned(), 400, "SerializationException", "EOF"),
            ("PutItem", json!({"TableName": 1}).to_string(), 400, "SerializationException", "invalid type"),
            ("PutItem", put(json!({"N": "1e200"})), 400, "ValidationException", "Number overflow"),
            ("PutItem", json!({"TableName": "Items"}).to_string(), 400, "ValidationException", "'item'"),
            ("GetItem", json!({"TableName": "Items", "Key": {}}).to_string(), 400, "ValidationException", "key"),
        ] {
            let error = run(&database, operation, body.as_bytes()).unwrap_err();
            let response = error.to_json();
            let case = format!("{operation} {body}: {response}");
            assert_eq!(error.status_code(), status, "{case}");
            let response: Value = serde_json::from_str(&response).unwrap();
            let text = response.get("message").or_else(|| response.get("Message")).unwrap().as_str().unwrap();
            assert!(response["__type"].as_str().unwrap().ends_with(error_type), "{case}");
            assert!(text.contains(message) && !text.contains("VALIDATION") && !text.contains(" line "), "{case}");
        }
        assert_eq!(run(&database, "PutItem", put(json!({"N": "1"})).as_bytes()).unwrap(), b"{}");
    }
}
