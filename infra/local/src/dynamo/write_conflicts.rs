//! Plays writes that meet another one. The engine does one after the other, so what functions do about it would
//! otherwise run on AWS for the first time.

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering};

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

const WORDS: &str = "Transaction is ongoing for the item";

/// Lets every nth write fail, once it is told to.
#[derive(Default)]
pub(super) struct Contention {
    /// 0: none.
    every: AtomicU32,
    writes: AtomicU32,
}

impl Contention {
    pub fn set(&self, every: Option<NonZeroU32>) {
        self.every.store(every.map_or(0, NonZeroU32::get), Ordering::Relaxed);
    }

    /// What a request is answered when it is a write and its turn has come. Nothing is written then.
    pub fn meets(&self, operation: &str, body: &[u8]) -> Option<Response> {
        let every = NonZeroU32::new(self.every.load(Ordering::Relaxed))?;
        let is_transaction = operation == "TransactWriteItems";
        if !is_transaction && !["PutItem", "UpdateItem", "DeleteItem"].contains(&operation) {
            return None;
        }
        let earlier = self.writes.fetch_add(1, Ordering::Relaxed);
        if earlier % every != every.get() - 1 {
            return None;
        }
        let answer = if is_transaction { cancelled(items(body)) } else { conflict() };
        Some((StatusCode::BAD_REQUEST, Json(answer)).into_response())
    }
}

/// Of a transaction.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Request {
    transact_items: Vec<IgnoredAny>,
}

fn items(body: &[u8]) -> usize {
    serde_json::from_slice::<Request>(body).map_or(1, |request| request.transact_items.len())
}

fn conflict() -> Value {
    json!({"__type": "com.amazonaws.dynamodb.v20120810#TransactionConflictException", "message": WORDS})
}

/// The first item is the one that somebody else writes.
fn cancelled(items: usize) -> Value {
    let codes = || std::iter::once("TransactionConflict").chain(std::iter::repeat("None")).take(items);
    let reason = |code| if code == "None" { json!({"Code": code}) } else { json!({"Code": code, "Message": WORDS}) };
    let named = codes().collect::<Vec<_>>().join(", ");
    json!({
        "__type": "com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
        "Message": format!(
            "Transaction cancelled, please refer cancellation reasons for specific reasons [{named}]"
        ),
        "CancellationReasons": codes().map(reason).collect::<Vec<_>>(),
    })
}
