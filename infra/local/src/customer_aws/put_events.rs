//! `PutEvents` of EventBridge.

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{CustomerAws, Session};
use crate::aws::access_keys::UnrecognizedClient;
use crate::aws::operation::operation_name;
use crate::faults::event_bridge_rejection;

const SERVICE: &str = "AWSEvents";
/// The limit of AWS for all events of a request together.
const MAX_REQUEST_BYTES: usize = 256 * 1024;
/// What AWS counts for the time of an event.
const TIME_BYTES: usize = 14;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct PutEvents {
    entries: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Entry {
    event_bus_name: String,
    source: String,
    detail_type: String,
    detail: String,
}

impl Entry {
    fn bytes(&self) -> usize {
        self.source.len() + self.detail_type.len() + self.detail.len() + TIME_BYTES
    }
}

pub(super) fn router() -> Router<CustomerAws> {
    Router::new().route("/events/{function}", post(put_events)).route("/events/{function}/", post(put_events))
}

async fn put_events(
    State(aws): State<CustomerAws>,
    Path(_function): Path<String>,
    headers: HeaderMap,
    body: String,
) -> Response {
    let Some(session) = aws.session(&headers) else { return UnrecognizedClient.into_response() };
    let entries = match serde_json::from_str(&body) {
        Ok(PutEvents { entries }) if operation_name(&headers, SERVICE) == "PutEvents" => entries,
        Ok(_) | Err(_) => return validation_error("the request is not PutEvents"),
    };
    if entries.iter().map(Entry::bytes).sum::<usize>() > MAX_REQUEST_BYTES {
        return validation_error("Total size of the entries in the request is over the limit.");
    }
    let put = async {
        let results: Vec<Value> = entries.iter().map(|entry| aws.put_event(&session, entry)).collect();
        let failed = results.iter().filter(|result| result.get("ErrorCode").is_some()).count();
        Json(json!({ "FailedEntryCount": failed, "Entries": results })).into_response()
    };
    aws.with_faults(event_bridge_rejection, put).await
}

impl CustomerAws {
    fn put_event(&self, session: &Session, entry: &Entry) -> Value {
        let Ok(detail @ Value::Object(_)) = serde_json::from_str(&entry.detail) else {
            return json!({ "ErrorCode": "MalformedDetail", "ErrorMessage": "Detail is malformed." });
        };
        self.record(json!({
            "role_arn": session.role_arn,
            "event_bus": entry.event_bus_name,
            "source": entry.source,
            "detail_type": entry.detail_type,
            "detail": detail,
        }));
        json!({ "EventId": Uuid::now_v7() })
    }
}

fn validation_error(message: &str) -> Response {
    let body = json!({ "__type": "ValidationException", "message": message });
    (StatusCode::BAD_REQUEST, Json(body)).into_response()
}
