use serde_json::{Map, Value};

/// Returns a JSON object with the given fields. Fields whose value is null are left out.
pub(super) fn without_nulls<const N: usize>(fields: [(&str, Value); N]) -> Map<String, Value> {
    let present = fields.into_iter().filter(|(_, value)| !value.is_null());
    present.map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Returns a JSON object with the given fields added. They replace existing fields with the same names.
pub(super) fn with_fields<const N: usize>(mut object: Value, added: [(&str, Value); N]) -> Value {
    if let Some(fields) = object.as_object_mut() {
        fields.extend(added.map(|(name, value)| (name.to_owned(), value)));
    }
    object
}
