//! The DynamoDB endpoint for functions. It checks each request's permissions, counts the request and forwards it to the
//! engine. Every function has its own path, `/{function}`.
//!
//! The engine calculates capacity units. The proxy adds the parameter that makes the engine return them. Otherwise, it
//! leaves requests unchanged, so that the engine's error messages refer to what the function sent.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde::Deserialize;
use serde::de::IgnoredAny;
use tokio::sync::watch;

use super::error::Error;
use super::table_streams::TableStreams;
use super::write_conflicts::WriteConflicts;
use crate::arn::table_arn;
use crate::aws_operation::operation_name;
use crate::faults::{Faults, RequestFault, dynamodb_rejection, stay_silent};
use crate::iam::{AccessDenied, Permission, Roles};
use crate::usage::{CapacityUnits, UsageMeter};

/// The name of the service in the `X-Amz-Target` header.
const SERVICE: &str = "DynamoDB_20120810";

pub(super) struct DynamoProxy {
    engine: Uri,
    client: Client<HttpConnector, Body>,
    meter: UsageMeter,
    roles: Roles,
    streams: TableStreams,
    write_conflicts: Arc<WriteConflicts>,
    faults: Faults,
}

/// A request that the function may make.
struct AuthorizedRequest {
    body: Bytes,
    /// The senders that notify the readers of the streams that the request writes to.
    written_streams: Vec<watch::Sender<()>>,
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

/// The capacity units that an operation reports. An operation on several tables reports one entry per table.
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
    pub fn new(
        engine: SocketAddr,
        meter: UsageMeter,
        roles: Roles,
        streams: TableStreams,
        (write_conflicts, faults): (Arc<WriteConflicts>, Faults),
    ) -> Result<Self, Error> {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        let client = Client::builder(TokioExecutor::new()).build(connector);
        let engine = format!("http://{engine}/").parse()?;
        Ok(Self { engine, client, meter, roles, streams, write_conflicts, faults })
    }

    pub fn router(self) -> Router {
        Router::new()
            .route("/{function}", post(forward))
            .route("/{function}/", post(forward))
            // The engine limits the body size and returns the same error as DynamoDB.
            .layer(DefaultBodyLimit::disable())
            .with_state(Arc::new(self))
    }

    /// Forwards a request to the engine. Returns `None` if the engine does not respond.
    async fn forward(&self, function: &str, headers: HeaderMap, body: Bytes) -> Option<Response> {
        let operation = operation_name(&headers, SERVICE).to_owned();
        let AuthorizedRequest { body, written_streams } = match self.authorize(function, &operation, body) {
            Ok(request) => request,
            Err(denied) => return Some(denied.into_response()),
        };
        if let Some(conflict) = self.write_conflicts.reject(&operation, &body) {
            return Some(conflict);
        }
        let fault = self.faults.of_table_request();
        if let Some(rejection) = fault.and_then(dynamodb_rejection) {
            return Some(rejection);
        }
        if let Some(RequestFault::Delay(delay)) = fault {
            tokio::time::sleep(delay).await;
        }
        let mut request = axum::extract::Request::new(Body::from(body));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.engine.clone();
        *request.headers_mut() = without_connection_headers(headers);
        let round_trip = self.meter.start_store_request(function);
        let (mut head, body) = self.client.request(request).await.ok()?.into_parts();
        let body = axum::body::to_bytes(Body::new(body), usize::MAX).await.ok()?;
        self.meter.end_store_request(function, round_trip).await;
        written_streams.iter().for_each(|sender| sender.send_replace(()));
        self.record_capacity(function, &operation, &body);
        if fault == Some(RequestFault::LoseAnswer) {
            return dynamodb_rejection(RequestFault::Fail);
        }
        if fault == Some(RequestFault::Silence) {
            stay_silent().await;
        }
        head.headers = without_connection_headers(head.headers);
        Some(Response::from_parts(head, Body::from(body)))
    }

    /// Checks the permissions and counts the request. Adds the `ReturnConsumedCapacity` parameter to the body if the
    /// operation consumes capacity units.
    fn authorize(&self, function: &str, operation: &str, body: Bytes) -> Result<AuthorizedRequest, AccessDenied> {
        // A body that cannot be parsed is forwarded, so that the engine returns the same error as DynamoDB.
        let request: TableRequest<'_> = serde_json::from_slice(&body).unwrap_or_default();
        self.roles.authorize(function, &request.permissions(operation))?;
        for table in request.table_names() {
            self.meter.count_dynamodb_request(function, table, operation);
        }
        let capacity = capacity_units(operation, 0.0);
        let written_streams = match capacity {
            Some(CapacityUnits::Write(_)) => self.streams.senders(request.table_names()),
            Some(CapacityUnits::Read(_)) | None => Vec::new(),
        };
        let is_parameter_missing = request.return_consumed_capacity.is_none() && capacity.is_some();
        let with_parameter = if is_parameter_missing { with_capacity_parameter(&body) } else { None };
        Ok(AuthorizedRequest { body: with_parameter.unwrap_or(body), written_streams })
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
    /// Returns the permissions that AWS requires. A transaction requires the permissions for each of its items.
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

    /// Returns the names of the tables in the request, without duplicates.
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
) -> Response {
    // The request runs in a separate task, so that it completes even if the function is killed. Otherwise, the engine
    // could complete a write without the stream's readers being notified.
    let response = tokio::spawn(async move { proxy.forward(&function, headers, body).await }).await;
    // If there is no response, the host is stopping. The SDK retries until the function ends.
    response.ok().flatten().unwrap_or_else(|| StatusCode::SERVICE_UNAVAILABLE.into_response())
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

/// Removes the headers that apply only to a single connection.
fn without_connection_headers(mut headers: HeaderMap) -> HeaderMap {
    for name in [header::HOST, header::CONNECTION, header::CONTENT_LENGTH, header::TRANSFER_ENCODING] {
        headers.remove(name);
    }
    headers
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
