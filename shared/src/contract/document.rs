//! Assembles the OpenAPI document from operations.

use std::collections::{BTreeMap, BTreeSet};

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::operation::Operation;
use super::portable;

/// An OpenAPI 3.1 document. Types that requests contain are described as they are read, and types that responses
/// contain as they are written.
pub struct Document {
    document: Value,
    requests: SchemaGenerator,
    responses: SchemaGenerator,
    failures: BTreeMap<String, Value>,
}

impl Document {
    /// `frame` is the document without operations and schemas: its title, servers, tags, parameters and security
    /// schemes.
    pub fn new(frame: Value) -> Self {
        Self {
            document: frame,
            requests: deserialize_settings().into_generator(),
            responses: serialize_settings().into_generator(),
            failures: BTreeMap::new(),
        }
    }

    /// Adds operations that the service offers.
    pub fn add(&mut self, operations: &[Operation]) {
        self.add_to("paths", operations);
    }

    /// Adds operations that the service calls. The requests are written by the service, and the responses are read.
    pub fn add_outgoing(&mut self, operations: &[Operation]) {
        std::mem::swap(&mut self.requests, &mut self.responses);
        self.add_to("webhooks", operations);
        std::mem::swap(&mut self.requests, &mut self.responses);
    }

    fn add_to(&mut self, section: &str, operations: &[Operation]) {
        for operation in operations {
            let value = operation.to_json(&mut self.requests, &mut self.responses);
            let path = &mut self.document[section][operation.path];
            let parameters = path_parameters(operation.path);
            if !parameters.is_empty() {
                path["parameters"] = Value::Array(parameters);
            }
            path[operation.method] = value;
            for failure in operation.all_failures() {
                self.failures.insert(failure.name(), failure.response(&mut self.responses));
            }
        }
    }

    /// Returns the document, or the name of a schema that differs between requests and responses.
    pub fn finish(mut self) -> Result<Value, String> {
        let mut schemas = definitions(&mut self.requests, &mut self.responses)?;
        portable::name_alternatives(&mut schemas);
        merge(&mut self.document["components"]["schemas"], schemas);
        merge(&mut self.document["components"]["responses"], self.failures);
        remove_unreferenced(&mut self.document);
        for section in ["paths", "webhooks", "components"] {
            portable::add_integer_formats(&mut self.document[section]);
        }
        Ok(self.document)
    }
}

/// Returns the schemas of what the service reads and writes, or the name of a schema that differs between the two. Such
/// a type must be split, because a client has one type for each name.
pub(super) fn definitions(
    read: &mut SchemaGenerator,
    written: &mut SchemaGenerator,
) -> Result<Map<String, Value>, String> {
    let mut schemas = read.take_definitions(true);
    for (name, schema) in written.take_definitions(true) {
        match schemas.get(&name) {
            Some(other) if *other != schema => return Err(name),
            _ => schemas.insert(name, schema),
        };
    }
    Ok(schemas)
}

fn settings() -> SchemaSettings {
    SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
        settings.transforms.push(Box::new(RecursiveTransform(with_known_integer_format)));
    })
}

/// Returns the settings for bodies that the service reads.
pub(super) fn deserialize_settings() -> SchemaSettings {
    let mut settings = settings().for_deserialize();
    settings.transforms.insert(0, Box::new(RecursiveTransform(with_largest_number)));
    settings
}

/// Adds the limit of 64-bit numbers, above which the reader rejects a number.
fn with_largest_number(schema: &mut Schema) {
    let is_unlimited = schema.get("maximum").is_none();
    if is_unlimited && schema.get("format").and_then(Value::as_str) == Some("uint64") {
        schema.insert("maximum".to_owned(), json!(u64::MAX));
    }
}

/// Returns the settings for bodies that the service writes.
pub(super) fn serialize_settings() -> SchemaSettings {
    settings().for_serialize().with_transform(RecursiveTransform(without_null_if_absent))
}

/// Removes the components that nothing refers to.
fn remove_unreferenced(document: &mut Value) {
    let mut found = BTreeSet::new();
    let mut open: Vec<String> = references(&json!([document["paths"], document["webhooks"]]));
    while let Some(reference) = open.pop() {
        if found.insert(reference.clone()) {
            open.extend(document.pointer(&reference).map(references).unwrap_or_default());
        }
    }
    for section in ["schemas", "responses", "parameters"] {
        if let Some(components) = document["components"][section].as_object_mut() {
            components.retain(|name, _| found.contains(&format!("/components/{section}/{name}")));
        }
    }
}

/// Returns the JSON pointers to which a part of the document refers.
fn references(part: &Value) -> Vec<String> {
    let fields = part.as_object().into_iter().flatten();
    let own = part.get("$ref").and_then(Value::as_str).and_then(|target| target.strip_prefix('#'));
    let parts = fields.map(|(_, field)| field).chain(part.as_array().into_iter().flatten());
    own.map(str::to_owned).into_iter().chain(parts.flat_map(references)).collect()
}

/// Replaces the formats of unsigned integers, which OpenAPI does not define.
fn with_known_integer_format(schema: &mut Schema) {
    let format = schema.get("format").and_then(Value::as_str).unwrap_or_default();
    let known = match format {
        "uint8" | "uint16" | "uint32" => "int32",
        "uint64" | "uint" | "int" => "int64",
        _ => return,
    };
    let default_maximum = match format {
        "uint8" => u64::from(u8::MAX),
        "uint16" => u64::from(u16::MAX),
        _ => u64::from(u32::MAX),
    };
    if schema.get("maximum").and_then(Value::as_u64) == Some(default_maximum) {
        schema.remove("maximum");
    }
    schema.insert("format".to_owned(), json!(known));
}

/// An optional field of a response that can be absent (`skip_serializing_if`) is never null.
fn without_null_if_absent(schema: &mut Schema) {
    let required = schema.get("required").cloned().unwrap_or_default();
    let is_required = |name: &str| required.as_array().is_some_and(|fields| fields.iter().any(|field| field == name));
    let Some(fields) = schema.get_mut("properties").and_then(Value::as_object_mut) else { return };
    for (_, field) in fields.iter_mut().filter(|(name, _)| !is_required(name)) {
        remove_null(field);
    }
}

fn remove_null(field: &mut Value) {
    if let Some(types) = field.get_mut("type").and_then(Value::as_array_mut) {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            field["type"] = only.clone();
        }
    }
    if let Some(values) = field.get_mut("enum").and_then(Value::as_array_mut) {
        values.retain(|value| !value.is_null());
    }
    let Some(alternatives) = field.get_mut("anyOf").and_then(Value::as_array_mut) else { return };
    alternatives.retain(|alternative| *alternative != json!({ "type": "null" }));
    if let [Value::Object(only)] = alternatives.as_slice() {
        let only = only.clone();
        if let Some(field) = field.as_object_mut() {
            field.remove("anyOf");
            field.extend(only);
        }
    }
}

fn merge(component: &mut Value, added: impl IntoIterator<Item = (String, Value)>) {
    for (name, value) in added {
        component[name] = value;
    }
}

/// Returns the parameters of a path. A name means the same in every path.
fn path_parameters(path: &str) -> Vec<Value> {
    let segments = path.split('/').filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'));
    segments
        .map(|name| {
            let (description, schema) = path_parameter(name);
            let mut parameter = json!({ "name": name, "in": "path", "required": true, "schema": schema });
            if let Some(description) = description {
                parameter["description"] = json!(description);
            }
            parameter
        })
        .collect()
}

fn path_parameter(name: &str) -> (Option<&'static str>, Value) {
    let number = || json!({ "$ref": "#/components/schemas/SequentialNumber" });
    let text = || json!({ "type": "string", "minLength": 1 });
    match name {
        "chat_id" => (Some("The number of the chat in the account."), number()),
        "seq" => (Some("The number of the entry in its chat."), number()),
        "number" => (Some("The visitor's number in the account."), number()),
        "external_id" => {
            let id = json!({ "type": "string", "minLength": 1, "maxLength": 255 });
            (Some("The id that the integrator sends as sender.id; a number in its decimal form."), id)
        }
        "agent_id" => (Some("The agent's number in the account."), number()),
        "department_id" => (Some("The department's number in the account."), number()),
        "secret" => (Some("The random part of the secret address."), text()),
        "channel_id" => (Some("The public id of the channel (CHANNEL_PUBLIC_ID)."), text()),
        "widget_id" => (Some("The public id of the widget's channel."), text()),
        "provider_id" => (Some("Assigned by the operator."), text()),
        "token" => (Some("The token that identifies the bot to the provider."), text()),
        "call_id" => (Some("The id of the call's timeline entry."), text()),
        "leg" => {
            let legs = json!({ "type": "string", "enum": ["agent", "client", "dial"] });
            (Some("The leg of the call that the callback reports."), legs)
        }
        "file_id" => (Some("The id of the uploaded file."), text()),
        "until" => (Some("When the link ends, in Unix seconds."), number()),
        "id" => (Some("The id of the canned reply."), text()),
        "planned_id" => {
            let safe = json!({ "type": "string", "pattern": "^[A-Za-z0-9_-]{1,64}$" });
            (Some("The id of the planned message in its chat, chosen by the client that plans it."), safe)
        }
        "file" => (Some("The file name that the page refers to."), json!({ "type": "string" })),
        _ => (None, text()),
    }
}
