//! Checks and runs batch actions. A request has up to ten entries. Each entry has an id chosen by the caller, and
//! succeeds or fails on its own.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::{Value, json};

use super::super::Error;
use super::super::limits::MAX_BATCH_ENTRIES;
use super::error_response;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct BatchRequest<T> {
    #[serde(default = "Vec::new")]
    entries: Vec<BatchEntry<T>>,
}

#[derive(Deserialize)]
pub(super) struct BatchEntry<T> {
    #[serde(rename = "Id", default)]
    id: String,
    #[serde(flatten)]
    pub(super) request: T,
}

impl<T> BatchRequest<T> {
    /// Checks the number of entries and their ids, and returns the entries.
    pub(super) fn into_entries(self) -> Result<Vec<BatchEntry<T>>, Error> {
        if self.entries.is_empty() {
            return Err(Error::EmptyBatchRequest);
        }
        if self.entries.len() > MAX_BATCH_ENTRIES {
            return Err(Error::TooManyEntriesInBatchRequest(self.entries.len()));
        }
        let mut ids = BTreeSet::new();
        for BatchEntry { id, .. } in &self.entries {
            if !is_entry_id(id) {
                return Err(Error::InvalidBatchEntryId);
            }
            if !ids.insert(id) {
                return Err(Error::BatchEntryIdsNotDistinct(id.clone()));
            }
        }
        Ok(self.entries)
    }
}

fn is_entry_id(id: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    (1..=80).contains(&id.len()) && id.chars().all(is_allowed)
}

pub(super) fn run<T>(entries: Vec<BatchEntry<T>>, run: impl Fn(T) -> Result<Value, Error>) -> Value {
    let (mut successful, mut failed) = (Vec::new(), Vec::new());
    for BatchEntry { id, request } in entries {
        match run(request) {
            Ok(output) => successful.push(with_id(output, id)),
            Err(error) => failed.push(error_response::batch_entry(&error, &id)),
        }
    }
    json!({ "Successful": successful, "Failed": failed })
}

fn with_id(mut output: Value, id: String) -> Value {
    if let Some(fields) = output.as_object_mut() {
        fields.insert("Id".to_owned(), id.into());
    }
    output
}
