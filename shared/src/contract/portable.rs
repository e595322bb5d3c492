//! Rewrites the parts of the document that JSON Schema allows and generators of clients drop or misread. The meaning
//! stays the same.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// Gives each tagged union a discriminator, and each of its alternatives a named schema that contains the tag.
/// Generators ignore what stands beside a `$ref`, which is where schemars puts the tag.
pub(super) fn name_alternatives(schemas: &mut Map<String, Value>) {
    let mut named = BTreeMap::new();
    for (name, schema) in &*schemas {
        let alternatives = schema.get("oneOf").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let Some(tag) = alternatives.first().and_then(tag_of) else { continue };
        let tagged: Option<Vec<_>> =
            alternatives.iter().map(|alternative| name_alternative(schemas, name, &tag, alternative)).collect();
        if let Some(tagged) = tagged {
            named.insert(name.clone(), (tag, tagged));
        }
    }
    for (name, (tag, alternatives)) in named {
        let reference = |name: &str| format!("#/components/schemas/{name}");
        let references: Vec<Value> = alternatives.iter().map(|it| json!({ "$ref": reference(&it.name) })).collect();
        let mapping: Map<String, Value> =
            alternatives.iter().map(|it| (it.value.clone(), json!(reference(&it.name)))).collect();
        let union = &mut schemas[&name];
        union["oneOf"] = json!(references);
        union["discriminator"] = json!({ "propertyName": tag, "mapping": mapping });
        schemas.extend(alternatives.into_iter().map(|it| (it.name, it.schema)));
    }
}

struct Alternative {
    /// The value of the tag.
    value: String,
    name: String,
    schema: Value,
}

/// Returns the name of the only property that has a constant value.
fn tag_of(alternative: &Value) -> Option<String> {
    let mut constants = alternative.get("properties")?.as_object()?.iter().filter(|(_, it)| it["const"].is_string());
    let (name, _) = constants.next()?;
    constants.next().is_none().then(|| name.clone())
}

fn name_alternative(schemas: &Map<String, Value>, union: &str, tag: &str, alternative: &Value) -> Option<Alternative> {
    let properties = alternative.get("properties")?;
    let value = properties.get(tag)?.get("const")?.as_str()?;
    let fields =
        alternative.get("$ref").and_then(Value::as_str).and_then(|it| it.strip_prefix("#/components/schemas/"));
    let mut schema = match fields {
        Some(fields) => schemas.get(fields)?.clone(),
        None => alternative.clone(),
    };
    schema["properties"][tag] = properties[tag].clone();
    let required = schema["required"].as_array().into_iter().flatten().filter(|name| **name != tag).cloned();
    schema["required"] = [json!(tag)].into_iter().chain(required).collect();
    Some(Alternative { value: value.to_owned(), name: format!("{union}{}", pascal_case(value)), schema })
}

fn pascal_case(value: &str) -> String {
    let word = |word: &str| {
        let (first, rest) = word.split_at_checked(1).unwrap_or_default();
        first.to_uppercase() + &rest.to_lowercase()
    };
    value.split(|char: char| !char.is_alphanumeric()).map(word).collect()
}

/// Generators choose a type of 32 bits for integers without a format.
pub(super) fn add_integer_formats(part: &mut Value) {
    let is_integer = match &part["type"] {
        Value::String(kind) => kind == "integer",
        Value::Array(kinds) => kinds.iter().any(|kind| kind == "integer"),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => false,
    };
    if is_integer && part["format"].is_null() {
        part["format"] = json!("int64");
    }
    match part {
        Value::Object(fields) => fields.values_mut().for_each(add_integer_formats),
        Value::Array(items) => items.iter_mut().for_each(add_integer_formats),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
