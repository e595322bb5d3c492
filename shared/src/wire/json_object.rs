use serde_json::Value;

/// Returns the object with the added fields. Existing fields with the same names are replaced.
pub(super) fn with_fields<const N: usize>(mut object: Value, added: [(&str, Value); N]) -> Value {
    if let Some(fields) = object.as_object_mut() {
        fields.extend(added.map(|(name, value)| (name.to_owned(), value)));
    }
    object
}
