//! Stands before the engine and counts what each function uses, if it may: every function has its own path.
//!
//! Capacity units are counted by the engine; the proxy only asks for them. Requests pass through otherwise
//! unchanged, so what the engine says about a wrong one is about what the function wrote.

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

use super::Error;
use super::contention::Contention;
use crate::identity::table_arn;
use crate::operation::operation;
use crate::permission::{Denied, Permission, Roles};
use crate::usage::{Meter, Units};

/// What the header `X-Amz-Target` calls the service.
const SERVICE: &str = "DynamoDB_20120810";

/// Forwards to the engine.
pub(super) struct Proxy {
    engine: Uri,
    client: Client<HttpConnector, Body>,
    meter: Meter,
    roles: Roles,
    contention: Arc<Contention>,
}

/// What counting and allowing need to know of a request.
#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
struct Request<'r> {
    #[serde(borrow)]
    table_name: Option<Cow<'r, str>>,
    #[serde(borrow)]
    index_name: Option<Cow<'r, str>>,
    #[serde(borrow)]
    request_items: Option<BTreeMap<Cow<'r, str>, IgnoredAny>>,
    #[serde(borrow)]
    transact_items: Option<Vec<BTreeMap<Cow<'r, str>, Target<'r>>>>,
    return_consumed_capacity: Option<IgnoredAny>,
}

/// One operation of a transaction.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Target<'r> {
    #[serde(borrow)]
    table_name: Cow<'r, str>,
}

/// What counting needs to know of an answer.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Answer {
    consumed_capacity: Option<Consumed>,
}

/// One table, or as many as the operation touches.
#[derive(Deserialize)]
#[serde(untagged)]
enum Consumed {
    One(Capacity),
    Many(Vec<Capacity>),
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Capacity {
    capacity_units: f64,
}

impl Proxy {
    pub fn new(engine: SocketAddr, meter: Meter, roles: Roles, contention: Arc<Contention>) -> Result<Self, Error> {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        let client = Client::builder(TokioExecutor::new()).build(connector);
        Ok(Self { engine: format!("http://{engine}/").parse()?, client, meter, roles, contention })
    }

    pub fn router(self) -> Router {
        Router::new()
            .route("/{function}", post(forward))
            .route("/{function}/", post(forward))
            // The engine has its own limit, and its own words for it.
            .layer(DefaultBodyLimit::disable())
            .with_state(Arc::new(self))
    }

    /// `None` when the engine is gone.
    async fn forward(&self, function: &str, headers: HeaderMap, body: Bytes) -> Option<Response> {
        let operation = operation(&headers, SERVICE).to_owned();
        let body = match self.admit(function, &operation, body) {
            Ok(body) => body,
            Err(denied) => return Some(denied.into_response()),
        };
        if let Some(conflict) = self.contention.meets(&operation, &body) {
            return Some(conflict);
        }
        let mut request = axum::extract::Request::new(Body::from(body));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.engine.clone();
        *request.headers_mut() = end_to_end(headers);
        let (mut head, body) = self.client.request(request).await.ok()?.into_parts();
        let body = axum::body::to_bytes(Body::new(body), usize::MAX).await.ok()?;
        self.count_answer(function, &operation, &body);
        head.headers = end_to_end(head.headers);
        Some(Response::from_parts(head, Body::from(body)))
    }

    /// Counts what the function may ask for and gives back the body, asking for capacity units where that is possible.
    fn admit(&self, function: &str, operation: &str, body: Bytes) -> Result<Bytes, Denied> {
        // The engine will say what is wrong with a body that cannot be read.
        let request: Request<'_> = serde_json::from_slice(&body).unwrap_or_default();
        self.roles.check(function, &request.permissions(operation))?;
        for table in request.tables() {
            self.meter.dynamodb(function, table, operation);
        }
        if request.return_consumed_capacity.is_none() && units(operation, 0.0).is_some() {
            return Ok(asking_for_capacity(&body).unwrap_or(body));
        }
        Ok(body)
    }

    fn count_answer(&self, function: &str, operation: &str, body: &[u8]) {
        let Ok(Answer { consumed_capacity: Some(consumed) }) = serde_json::from_slice(body) else {
            return;
        };
        let total = match consumed {
            Consumed::One(capacity) => capacity.capacity_units,
            Consumed::Many(tables) => tables.iter().map(|table| table.capacity_units).sum(),
        };
        if let Some(units) = units(operation, total) {
            self.meter.units(function, units);
        }
    }
}

impl Request<'_> {
    /// What it takes on AWS. A transaction needs what each of its parts would need alone.
    fn permissions(&self, operation: &str) -> Vec<Permission> {
        let permission = |action: &str, resource| Permission { action: format!("dynamodb:{action}"), resource };
        let one = self.table_name.iter().map(|table| match &self.index_name {
            Some(index) => permission(operation, format!("{}/index/{index}", table_arn(table))),
            None => permission(operation, table_arn(table)),
        });
        let batch = self.request_items.iter().flatten().map(|(table, _)| permission(operation, table_arn(table)));
        let parts = self.transact_items.iter().flatten().flatten();
        let parts = parts.map(|(part, of)| permission(&format!("{part}Item"), table_arn(&of.table_name)));
        one.chain(batch).chain(parts).collect()
    }

    /// The tables it touches, each once.
    fn tables(&self) -> BTreeSet<&str> {
        let batch = self.request_items.iter().flatten().map(|(table, _)| table);
        let transaction = self.transact_items.iter().flatten().flat_map(BTreeMap::values);
        let transaction = transaction.map(|target| &target.table_name);
        self.table_name.iter().chain(batch).chain(transaction).map(AsRef::as_ref).collect()
    }
}

async fn forward(
    State(proxy): State<Arc<Proxy>>,
    Path(function): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let answer = proxy.forward(&function, headers, body).await;
    // The host is stopping. The SDK tries again, or gives up with its function.
    answer.unwrap_or_else(|| StatusCode::SERVICE_UNAVAILABLE.into_response())
}

/// What `amount` units of the operation are; `None` when it has none.
fn units(operation: &str, amount: f64) -> Option<Units> {
    match operation {
        "GetItem" | "BatchGetItem" | "Query" | "Scan" | "TransactGetItems" => Some(Units::Read(amount)),
        "PutItem" | "UpdateItem" | "DeleteItem" | "BatchWriteItem" | "TransactWriteItems" => Some(Units::Write(amount)),
        _ => None,
    }
}

/// Only the start of the text is changed: the rest reaches the engine byte by byte.
fn asking_for_capacity(body: &[u8]) -> Option<Bytes> {
    let members = body.trim_ascii_start().strip_prefix(b"{")?;
    let comma: &[u8] = if members.trim_ascii_start().starts_with(b"}") { b"" } else { b"," };
    let start: &[u8] = br#"{"ReturnConsumedCapacity":"TOTAL""#;
    Some([start, comma, members].concat().into())
}

/// Without the headers that belong to one connection.
fn end_to_end(mut headers: HeaderMap) -> HeaderMap {
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
    fn a_request_needs_what_aws_asks_of_each_of_its_parts() {
        let needed = |operation: &str, body: &str| {
            let request: Request<'_> = serde_json::from_str(body).unwrap();
            let names = request.permissions(operation).into_iter().map(|it| {
                let resource = it.resource.rsplit_once(":table/").unwrap().1.to_owned();
                format!("{} {resource}", it.action)
            });
            names.collect::<Vec<_>>()
        };
        assert_eq!(needed("GetItem", r#"{"TableName": "A"}"#), ["dynamodb:GetItem A"]);
        assert_eq!(needed("Query", r#"{"TableName": "A", "IndexName": "i"}"#), ["dynamodb:Query A/index/i"]);
        let batch = needed("BatchGetItem", r#"{"RequestItems": {"A": {}, "B": {}}}"#);
        assert_eq!(batch, ["dynamodb:BatchGetItem A", "dynamodb:BatchGetItem B"]);
        let parts = r#"{"TransactItems": [{"Put": {"TableName": "A"}}, {"ConditionCheck": {"TableName": "B"}}]}"#;
        let transaction = needed("TransactWriteItems", parts);
        assert_eq!(transaction, ["dynamodb:PutItem A", "dynamodb:ConditionCheckItem B"]);
    }
}
