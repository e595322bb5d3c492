//! Batches: up to ten entries, each with an id of the caller's, each succeeding or failing for
//! itself.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::{Value, json};

use super::super::Error;
use super::super::limits::MAX_BATCH_ENTRIES;
use super::fault;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct Request<T> {
    #[serde(default = "Vec::new")]
    entries: Vec<Entry<T>>,
}

#[derive(Deserialize)]
pub(super) struct Entry<T> {
    #[serde(rename = "Id", default)]
    id: String,
    #[serde(flatten)]
    pub(super) request: T,
}

impl<T> Request<T> {
    /// The entries, if the batch as a whole is sound.
    pub(super) fn checked(self) -> Result<Vec<Entry<T>>, Error> {
        if self.entries.is_empty() {
            return Err(Error::EmptyBatchRequest);
        }
        if self.entries.len() > MAX_BATCH_ENTRIES {
            return Err(Error::TooManyEntriesInBatchRequest(self.entries.len()));
        }
        let mut seen = BTreeSet::new();
        for Entry { id, .. } in &self.entries {
            if !is_entry_id(id) {
                return Err(Error::InvalidBatchEntryId);
            }
            if !seen.insert(id) {
                return Err(Error::BatchEntryIdsNotDistinct(id.clone()));
            }
        }
        Ok(self.entries)
    }
}

fn is_entry_id(id: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    (1..=80).contains(&id.len()) && id.chars().all(allowed)
}

/// Runs the entries one after the other; `run` answers as the single action would.
pub(super) fn run<T>(entries: Vec<Entry<T>>, run: impl Fn(T) -> Result<Value, Error>) -> Value {
    let (mut successful, mut failed) = (Vec::new(), Vec::new());
    for Entry { id, request } in entries {
        match run(request) {
            Ok(output) => successful.push(with_id(output, id)),
            Err(error) => failed.push(fault::batch_entry(&error, &id)),
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
