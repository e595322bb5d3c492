//! Runs the requests of the DynamoDB API on the engine.
//!
//! The engine also has an HTTP server. It is not used, because it would add a second HTTP request to each request, and
//! it parses every body several times.

use dynoxide::{Database, DynoxideError};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Runs a request and returns the response as DynamoDB sends it. Rejects operations that are not listed here.
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
        _ => Err(DynoxideError::ValidationException(format!("the local tables do not support {operation:?}"))),
    }
}

/// Parses the request body, runs the request and serializes the response.
fn call<Q: DeserializeOwned, R: Serialize>(
    body: &[u8],
    run: impl FnOnce(Q) -> Result<R, DynoxideError>,
) -> Result<Vec<u8>, DynoxideError> {
    let request = serde_json::from_slice(body);
    let request = request.map_err(|error| DynoxideError::ValidationException(error.to_string()))?;
    let response = serde_json::to_vec(&run(request)?);
    response.map_err(|error| DynoxideError::InternalServerError(error.to_string()))
}
