//! Simulates conflicts between concurrent writes, so that tests exercise how functions handle them. The engine runs one
//! write at a time and never reports a conflict itself.

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering};

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

const CONFLICT_MESSAGE: &str = "Transaction is ongoing for the item";

/// Rejects every n-th write while an interval is set.
#[derive(Default)]
pub(super) struct WriteConflicts {
    /// The interval n, or 0 to reject no writes.
    interval: AtomicU32,
    write_count: AtomicU32,
}

impl WriteConflicts {
    pub fn set_interval(&self, interval: Option<NonZeroU32>) {
        self.interval.store(interval.map_or(0, NonZeroU32::get), Ordering::Relaxed);
    }

    /// Returns the error response if the request is a write that must be rejected; such a write has no effect. Returns
    /// `None` if the request must be processed.
    pub fn reject(&self, operation: &str, body: &[u8]) -> Option<Response> {
        let interval = NonZeroU32::new(self.interval.load(Ordering::Relaxed))?;
        let is_transaction = operation == "TransactWriteItems";
        if !is_transaction && !["PutItem", "UpdateItem", "DeleteItem"].contains(&operation) {
            return None;
        }
        let earlier_writes = self.write_count.fetch_add(1, Ordering::Relaxed);
        if earlier_writes % interval != interval.get() - 1 {
            return None;
        }
        let error = if is_transaction { transaction_canceled(item_count(body)) } else { transaction_conflict() };
        Some((StatusCode::BAD_REQUEST, Json(error)).into_response())
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct TransactWriteRequest {
    transact_items: Vec<IgnoredAny>,
}

fn item_count(body: &[u8]) -> usize {
    serde_json::from_slice::<TransactWriteRequest>(body).map_or(1, |request| request.transact_items.len())
}

fn transaction_conflict() -> Value {
    json!({
        "__type": "com.amazonaws.dynamodb.v20120810#TransactionConflictException",
        "message": CONFLICT_MESSAGE,
    })
}

/// Returns the body of an error response that reports a conflict for the first item in a transaction.
fn transaction_canceled(item_count: usize) -> Value {
    let codes = || std::iter::once("TransactionConflict").chain(std::iter::repeat("None")).take(item_count);
    let reason = |code| match code {
        "None" => json!({"Code": code}),
        _ => json!({"Code": code, "Message": CONFLICT_MESSAGE}),
    };
    let code_list = codes().collect::<Vec<_>>().join(", ");
    json!({
        "__type": "com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
        "Message": format!(
            "Transaction cancelled, please refer cancellation reasons for specific reasons [{code_list}]"
        ),
        "CancellationReasons": codes().map(reason).collect::<Vec<_>>(),
    })
}
