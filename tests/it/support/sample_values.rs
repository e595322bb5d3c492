//! Sample values for the schemas, parameters and bodies of `docs/openapi.json`.

use serde_json::{Map, Value, json};

use crate::project::openapi_contract::DOCUMENT;

/// The texts from which the first one that a schema allows is its sample.
const TEXTS: [&str; 9] = [
    "sample",
    "Sample text",
    "https://app.example.com/hook",
    "ada@example.com",
    "violet anchor forty-two lanterns",
    "+31612345678",
    "1",
    "NL",
    "09:00",
];

/// Returns the operation of a route, or `None` if the document has none.
pub fn operation(method: &str, path: &str) -> Option<&'static Value> {
    DOCUMENT["paths"][path].get(method.to_lowercase())
}

/// Returns the names and sample values of an operation's required parameters in the path or the query.
pub fn required_parameters(path: &str, operation: &Value, place: &str) -> Vec<(String, String)> {
    let lists = [&DOCUMENT["paths"][path]["parameters"], &operation["parameters"]];
    let parameters = lists.into_iter().filter_map(Value::as_array).flatten().map(resolved);
    let required = parameters.filter(|parameter| parameter["in"] == place && parameter["required"] == true);
    let text = |value: Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    required
        .map(|parameter| (parameter["name"].as_str().unwrap().to_owned(), text(sample(&parameter["schema"]))))
        .collect()
}

/// Returns a body that an operation accepts: the example in the document, or otherwise the required fields. Returns
/// `None` if the operation has no JSON body.
pub fn body(operation: &Value) -> Option<Value> {
    let media = resolved(&operation["requestBody"])["content"].get("application/json")?;
    let examples = media["examples"].as_object().into_iter().flat_map(Map::values);
    let examples = examples.map(|example| &resolved(example)["value"]);
    let example = media.get("example").into_iter().chain(examples).next();
    Some(example.cloned().unwrap_or_else(|| sample(&media["schema"])))
}

/// Returns the part of the document to which `$ref` refers, or the value itself.
fn resolved(value: &Value) -> &Value {
    match value["$ref"].as_str() {
        Some(reference) => resolved(DOCUMENT.pointer(reference.strip_prefix('#').unwrap()).unwrap()),
        None => value,
    }
}

fn sample(schema: &Value) -> Value {
    let schema = resolved(schema);
    let kinds = [&schema["type"], &schema["type"][0]];
    let kind = kinds.into_iter().find_map(Value::as_str).unwrap_or("object");
    let first = |list: &Value| list.as_array().and_then(|values| values.first()).cloned();
    if let Some(value) = schema.get("const").cloned().or_else(|| first(&schema["examples"])) {
        return value;
    }
    if let Some(value) = first(&schema["enum"]) {
        return value;
    }
    let parts = ["oneOf", "anyOf"].into_iter().filter_map(|key| first(&schema[key]));
    let parts: Vec<_> = parts.chain(schema["allOf"].as_array().into_iter().flatten().cloned()).collect();
    if kind != "object" || !parts.is_empty() && !schema["properties"].is_object() && parts.len() == 1 {
        return match kind {
            "string" => sample_text(schema),
            "integer" | "number" => schema.get("minimum").cloned().unwrap_or(json!(1)),
            "boolean" => json!(false),
            "null" => Value::Null,
            "array" => {
                let count = schema["minItems"].as_u64().unwrap_or_default();
                (0..count).map(|_| sample(&schema["items"])).collect()
            }
            _ => sample(&parts[0]),
        };
    }
    let mut fields = Map::new();
    for part in &parts {
        fields.extend(sample(part).as_object().cloned().unwrap_or_default());
    }
    for name in schema["required"].as_array().into_iter().flatten() {
        let name = name.as_str().unwrap();
        fields.entry(name).or_insert_with(|| sample(&schema["properties"][name]));
    }
    // A body without required fields changes what it contains, so it should contain something.
    if fields.is_empty()
        && let Some(properties) = schema["properties"].as_object()
    {
        let name = properties.keys().find(|name| *name == "name").or_else(|| properties.keys().next());
        fields.extend(name.map(|name| (name.clone(), sample(&properties[name]))));
    }
    Value::Object(fields)
}

fn sample_text(schema: &Value) -> Value {
    let validator = jsonschema::draft202012::options().should_validate_formats(true).build(schema).unwrap();
    let text = TEXTS.into_iter().map(Value::from).find(|text| validator.is_valid(text));
    text.unwrap_or_else(|| panic!("no sample text is valid for {schema}"))
}
