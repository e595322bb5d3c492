//! Assembles the AsyncAPI document from channels.

use std::collections::BTreeSet;

use schemars::SchemaGenerator;
use serde_json::{Value, json};

use super::document::{references, serialize_settings};
use super::message::{Channel, Message};

/// Returns an AsyncAPI 3 document. `frame` is the document without channels, and `openapi` is the
/// OpenAPI document, to whose schemas messages may refer.
pub fn async_document(mut frame: Value, channels: &[Channel], openapi: &Value) -> Value {
    let mut generator = serialize_settings().into_generator();
    for channel in channels {
        let directions = [("send", &channel.sent), ("receive", &channel.received)];
        for (action, messages) in directions.into_iter().filter(|(_, messages)| !messages.is_empty()) {
            frame["operations"][format!("{action}{}", channel.name)] = operation(channel, action, messages);
            for message in messages {
                frame["components"]["messages"][message.name] = component(message, &mut generator);
            }
        }
        frame["channels"][channel.name] = channel_object(channel);
    }
    for (name, schema) in generator.take_definitions(true) {
        frame["components"]["schemas"][name] = schema;
    }
    add_referenced(&mut frame, openapi);
    frame
}

fn channel_object(channel: &Channel) -> Value {
    let messages = channel.sent.iter().chain(&channel.received);
    let references = messages
        .map(|message| (message.name.to_owned(), json!({ "$ref": format!("#/components/messages/{}", message.name) })));
    json!({
        "address": channel.address,
        "description": channel.description,
        "servers": [{ "$ref": format!("#/servers/{}", channel.server) }],
        "messages": references.collect::<serde_json::Map<_, _>>(),
    })
}

fn operation(channel: &Channel, action: &str, messages: &[Message]) -> Value {
    let message =
        |message: &Message| json!({ "$ref": format!("#/channels/{}/messages/{}", channel.name, message.name) });
    json!({
        "action": action,
        "channel": { "$ref": format!("#/channels/{}", channel.name) },
        "messages": messages.iter().map(message).collect::<Vec<_>>(),
    })
}

fn component(message: &Message, generator: &mut SchemaGenerator) -> Value {
    json!({
        "name": message.name,
        "summary": message.summary,
        "contentType": "application/json",
        "payload": (message.schema)(generator),
    })
}

/// Copies the schemas of the OpenAPI document to which the document refers, directly or not.
fn add_referenced(document: &mut Value, openapi: &Value) {
    let mut open = references(document);
    let mut known = BTreeSet::new();
    while let Some(reference) = open.pop() {
        let Some(name) = reference.strip_prefix("/components/schemas/") else { continue };
        if !known.insert(name.to_owned()) || document.pointer(&reference).is_some() {
            continue;
        }
        if let Some(schema) = openapi.pointer(&reference) {
            open.extend(references(schema));
            document["components"]["schemas"][name] = schema.clone();
        }
    }
}
