//! Helpers for building JSON objects.

use serde_json::{Map, Value};

/// An object of these fields, without those whose value is null.
pub(super) fn without_nulls<const N: usize>(fields: [(&str, Value); N]) -> Map<String, Value> {
    let present = fields.into_iter().filter(|(_, value)| !value.is_null());
    present.map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Adds fields to an object.
pub(super) fn with_fields<const N: usize>(mut object: Value, added: [(&str, Value); N]) -> Value {
    if let Some(fields) = object.as_object_mut() {
        fields.extend(added.map(|(name, value)| (name.to_owned(), value)));
    }
    object
}
