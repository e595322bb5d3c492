//! The DynamoDB endpoint for functions. It checks each request's permissions, counts the request and passes it to the
//! engine. Every function has its own path, `/{function}`, and signs its requests with its own access key. Tests and
//! benchmarks use `/tools/{key}/{name}`.
//!
//! The engine calculates capacity units. The proxy adds the parameter that makes the engine return them. Apart from
//! that, it leaves requests unchanged, so that the engine's error messages refer to what the function sent.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use dynoxide::{Database, DynoxideError};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::operations;
use super::table_streams::{TableStreams, WriteCount};
use super::write_conflicts::WriteConflicts;
use crate::aws::access_keys::{AccessKeys, UnrecognizedClient};
use crate::aws::arn::table_arn;
use crate::aws::iam::{AccessDenied, Permission, Roles};
use crate::aws::operation::operation_name;
use crate::faults::{Faults, dynamodb_rejection};
use crate::usage::{CapacityUnits, UsageMeter};

/// The name of the service in the `X-Amz-Target` header.
const SERVICE: &str = "DynamoDB_20120810";

/// The maximum size of a request body, as for DynamoDB.
const MAX_BODY_BYTES: usize = 16 * 1024 * 1024;

pub(super) struct DynamoProxy {
    pub access_keys: AccessKeys,
    pub database: Database,
    pub meter: UsageMeter,
    pub roles: Roles,
    pub streams: TableStreams,
    pub write_conflicts: Arc<WriteConflicts>,
    pub faults: Faults,
}

struct AuthorizedRequest {
    body: Bytes,
    /// The write counts of the tables with a stream that the request may change.
    writes: Vec<WriteCount>,
}

/// The request fields that determine the required permissions and the usage.
#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
struct TableRequest<'r> {
    #[serde(borrow)]
    table_name: Option<Cow<'r, str>>,
    #[serde(borrow)]
    index_name: Option<Cow<'r, str>>,
    #[serde(borrow)]
    request_items: Option<BTreeMap<Cow<'r, str>, IgnoredAny>>,
    #[serde(borrow)]
    transact_items: Option<Vec<BTreeMap<Cow<'r, str>, TransactItem<'r>>>>,
    return_consumed_capacity: Option<IgnoredAny>,
}

/// An operation in a transaction. Only the table is needed.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct TransactItem<'r> {
    #[serde(borrow)]
    table_name: Cow<'r, str>,
}

/// The response fields that determine the usage.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct CapacityResponse {
    consumed_capacity: Option<ConsumedCapacity>,
}

/// The capacity units that an operation reports. A batch or transaction reports a list with one entry per table.
#[derive(Deserialize)]
#[serde(untagged)]
enum ConsumedCapacity {
    Single(TableCapacity),
    PerTable(Vec<TableCapacity>),
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct TableCapacity {
    capacity_units: f64,
}

impl DynamoProxy {
    pub fn router(self) -> Router {
        Router::new()
            .route("/{function}", post(forward))
            .route("/{function}/", post(forward))
            .route("/tools/{key}/{name}", post(forward_from_tool))
            .route("/tools/{key}/{name}/", post(forward_from_tool))
            .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
            .with_state(Arc::new(self))
    }

    /// Runs a function's request. An injected fault can reject or delay the request, or withhold its response.
    async fn respond(&self, function: &str, operation: &str, body: Bytes) -> Response {
        let AuthorizedRequest { body, writes } = match self.authorize(function, operation, body) {
            Ok(request) => request,
            Err(denied) => return denied.into_response(),
        };
        if let Some(conflict) = self.write_conflicts.reject(operation, &body) {
            return conflict;
        }
        let fault = self.faults.of_table_request();
        let handle = async {
            let round_trip = self.meter.start_store_request(function);
            let result = operations::run(&self.database, operation, &body);
            writes.iter().for_each(WriteCount::increment);
            if let Ok(body) = &result {
                self.record_capacity(function, operation, body);
            }
            self.meter.end_store_request(function, round_trip).await;
            http_response(result)
        };
        match fault {
            Some(fault) => fault.apply(dynamodb_rejection, handle).await,
            None => handle.await,
        }
    }

    /// Checks the permissions and counts the request, once for each of its tables. Adds the `ReturnConsumedCapacity`
    /// parameter to the body if the operation consumes capacity units.
    fn authorize(&self, function: &str, operation: &str, body: Bytes) -> Result<AuthorizedRequest, AccessDenied> {
        // The engine returns an error for a body that cannot be parsed here, so the parse error is ignored.
        let request: TableRequest<'_> = serde_json::from_slice(&body).unwrap_or_default();
        self.roles.authorize(function, &request.permissions(operation))?;
        for table in request.table_names() {
            self.meter.count_dynamodb_request(function, table, operation);
        }
        let capacity = capacity_units(operation, 0.0);
        let writes = match capacity {
            Some(CapacityUnits::Write(_)) => self.streams.write_counts(request.table_names()),
            Some(CapacityUnits::Read(_)) | None => Vec::new(),
        };
        let is_parameter_missing = request.return_consumed_capacity.is_none() && capacity.is_some();
        let with_parameter = if is_parameter_missing { with_capacity_parameter(&body) } else { None };
        Ok(AuthorizedRequest { body: with_parameter.unwrap_or(body), writes })
    }

    fn record_capacity(&self, function: &str, operation: &str, body: &[u8]) {
        let Ok(CapacityResponse { consumed_capacity: Some(consumed) }) = serde_json::from_slice(body) else {
            return;
        };
        let total = match consumed {
            ConsumedCapacity::Single(capacity) => capacity.capacity_units,
            ConsumedCapacity::PerTable(tables) => tables.iter().map(|table| table.capacity_units).sum(),
        };
        if let Some(units) = capacity_units(operation, total) {
            self.meter.add_capacity_units(function, units);
        }
    }
}

impl TableRequest<'_> {
    /// Returns the permissions that the request requires. A transaction requires a permission for each of its items,
    /// such as `dynamodb:PutItem`.
    fn permissions(&self, operation: &str) -> Vec<Permission> {
        let permission = |action: &str, resource| Permission { action: format!("dynamodb:{action}"), resource };
        let single = self.table_name.iter().map(|table| match &self.index_name {
            Some(index) => permission(operation, format!("{}/index/{index}", table_arn(table))),
            None => permission(operation, table_arn(table)),
        });
        let batch = self.request_items.iter().flatten().map(|(table, _)| permission(operation, table_arn(table)));
        let transaction = self.transact_items.iter().flatten().flatten();
        let transaction =
            transaction.map(|(action, item)| permission(&format!("{action}Item"), table_arn(&item.table_name)));
        single.chain(batch).chain(transaction).collect()
    }

    fn table_names(&self) -> BTreeSet<&str> {
        let batch = self.request_items.iter().flatten().map(|(table, _)| table);
        let transaction = self.transact_items.iter().flatten().flat_map(BTreeMap::values);
        let transaction = transaction.map(|item| &item.table_name);
        self.table_name.iter().chain(batch).chain(transaction).map(AsRef::as_ref).collect()
    }
}

async fn forward(
    State(proxy): State<Arc<DynamoProxy>>,
    Path(function): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, UnrecognizedClient> {
    proxy.access_keys.verify(&function, &headers)?;
    Ok(run(proxy, function, &headers, body).await)
}

async fn forward_from_tool(
    State(proxy): State<Arc<DynamoProxy>>,
    Path((key, name)): Path<(String, String)>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, UnrecognizedClient> {
    if key != proxy.access_keys.of_tools() {
        return Err(UnrecognizedClient);
    }
    Ok(run(proxy, name, &headers, body).await)
}

async fn run(proxy: Arc<DynamoProxy>, caller: String, headers: &HeaderMap, body: Bytes) -> Response {
    let operation = operation_name(headers, SERVICE).to_owned();
    // The request runs in a separate task, so that it completes even if the function is killed. A delayed request must
    // still be executed, and its response must still be counted.
    let response = tokio::spawn(async move { proxy.respond(&caller, &operation, body).await }).await;
    // If there is no response, the host is stopping or the task has panicked. The SDK retries.
    response.unwrap_or_else(|_| StatusCode::SERVICE_UNAVAILABLE.into_response())
}

fn http_response(result: Result<Vec<u8>, DynoxideError>) -> Response {
    let (status, body) = match result {
        Ok(body) => (StatusCode::OK, body),
        Err(error) => {
            let status = StatusCode::from_u16(error.status_code()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            (status, error.to_json().into_bytes())
        }
    };
    (status, [(header::CONTENT_TYPE, "application/x-amz-json-1.0")], body).into_response()
}

/// Returns `amount` as the operation's read or write units, or `None` if the operation consumes no capacity units.
fn capacity_units(operation: &str, amount: f64) -> Option<CapacityUnits> {
    match operation {
        "GetItem" | "BatchGetItem" | "Query" | "Scan" | "TransactGetItems" => Some(CapacityUnits::Read(amount)),
        "PutItem" | "UpdateItem" | "DeleteItem" | "BatchWriteItem" | "TransactWriteItems" => {
            Some(CapacityUnits::Write(amount))
        }
        _ => None,
    }
}

/// Inserts the `ReturnConsumedCapacity` parameter as the first member of the JSON object. Returns `None` if the body is
/// not an object.
fn with_capacity_parameter(body: &[u8]) -> Option<Bytes> {
    let members = body.trim_ascii_start().strip_prefix(b"{")?;
    let comma: &[u8] = if members.trim_ascii_start().starts_with(b"}") { b"" } else { b"," };
    let start: &[u8] = br#"{"ReturnConsumedCapacity":"TOTAL""#;
    Some([start, comma, members].concat().into())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn request_requires_the_permissions_of_its_parts() {
        let required = |operation: &str, body: &str| {
            let request: TableRequest<'_> = serde_json::from_str(body).unwrap();
            let names = request.permissions(operation).into_iter().map(|it| {
                let resource = it.resource.rsplit_once(":table/").unwrap().1.to_owned();
                format!("{} {resource}", it.action)
            });
            names.collect::<Vec<_>>()
        };
        assert_eq!(required("GetItem", r#"{"TableName": "A"}"#), ["dynamodb:GetItem A"]);
        assert_eq!(required("Query", r#"{"TableName": "A", "IndexName": "i"}"#), ["dynamodb:Query A/index/i"]);
        let batch = required("BatchGetItem", r#"{"RequestItems": {"A": {}, "B": {}}}"#);
        assert_eq!(batch, ["dynamodb:BatchGetItem A", "dynamodb:BatchGetItem B"]);
        let parts = r#"{"TransactItems": [{"Put": {"TableName": "A"}}, {"ConditionCheck": {"TableName": "B"}}]}"#;
        let transaction = required("TransactWriteItems", parts);
        assert_eq!(transaction, ["dynamodb:PutItem A", "dynamodb:ConditionCheckItem B"]);
    }
}
