//! Assembles the AsyncAPI document from channels.

use schemars::SchemaGenerator;
use serde_json::{Value, json};

use super::document::{definitions, deserialize_settings, serialize_settings};
use super::message::{Channel, Message};
use super::portable;

/// Returns an AsyncAPI 3 document, or the name of a schema that differs between what the service reads and what it
/// writes. `frame` is the document without channels.
pub fn async_document(mut frame: Value, channels: &[Channel]) -> Result<Value, String> {
    let mut read = deserialize_settings().into_generator();
    let mut written = serialize_settings().into_generator();
    for channel in channels {
        add(&mut frame, channel, "send", &channel.sent, &mut written);
        add(&mut frame, channel, "receive", &channel.received, &mut read);
        frame["channels"][channel.name] = channel_object(channel);
    }
    frame["components"]["schemas"] = Value::Object(definitions(&mut read, &mut written)?);
    portable::add_integer_formats(&mut frame["components"]);
    Ok(frame)
}

fn add(frame: &mut Value, channel: &Channel, action: &str, messages: &[Message], schemas: &mut SchemaGenerator) {
    if messages.is_empty() {
        return;
    }
    frame["operations"][format!("{action}{}", channel.name)] = operation(channel, action, messages);
    for message in messages {
        frame["components"]["messages"][message.name] = component(message, schemas);
    }
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
