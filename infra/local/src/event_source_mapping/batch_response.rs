//! Reads the response of a function whose event source mapping has `ReportBatchItemFailures`.

use std::collections::HashSet;

use serde::Deserialize;

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct BatchResponse {
    #[serde(default)]
    batch_item_failures: Option<Vec<ItemFailure>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ItemFailure {
    item_identifier: String,
}

/// Returns the identifiers of the items that the function reported as failed. Returns `None` if the response is invalid
/// or names an item that is not in the batch, so that the whole batch counts as failed.
pub(super) fn failed_items(result: &[u8], is_in_batch: impl Fn(&str) -> bool) -> Option<HashSet<String>> {
    // An empty or null response reports no failures.
    let response = match result.trim_ascii() {
        b"" | b"null" => BatchResponse::default(),
        result => serde_json::from_slice(result).ok()?,
    };
    let failures = response.batch_item_failures.unwrap_or_default();
    let failed: HashSet<_> = failures.into_iter().map(|failure| failure.item_identifier).collect();
    failed.iter().all(|item| is_in_batch(item)).then_some(failed)
}
