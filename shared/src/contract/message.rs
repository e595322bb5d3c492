//! A message of the AsyncAPI document: a frame of a socket, or the body of a request that the service sends.

use schemars::{JsonSchema, Schema, SchemaGenerator};

/// A message that one side sends to the other.
pub struct Message {
    pub(super) name: &'static str,
    pub(super) summary: &'static str,
    pub(super) schema: fn(&mut SchemaGenerator) -> Schema,
}

impl Message {
    /// `name` becomes the name of the message in generated code.
    pub fn of<T: JsonSchema>(name: &'static str, summary: &'static str) -> Self {
        Self { name, summary, schema: |schemas| schemas.subschema_for::<T>() }
    }
}

/// A channel: an address and the messages in both directions.
pub struct Channel {
    pub(super) name: &'static str,
    pub(super) address: &'static str,
    pub(super) server: &'static str,
    pub(super) description: &'static str,
    /// The messages that the service sends.
    pub(super) sent: Vec<Message>,
    /// The messages that the service receives.
    pub(super) received: Vec<Message>,
}

impl Channel {
    /// `server` is the name of a server in the document's frame.
    pub fn new(name: &'static str, server: &'static str, address: &'static str, description: &'static str) -> Self {
        Self { name, address, server, description, sent: Vec::new(), received: Vec::new() }
    }

    pub fn sends(self, sent: Vec<Message>) -> Self {
        Self { sent, ..self }
    }

    pub fn receives(self, received: Vec<Message>) -> Self {
        Self { received, ..self }
    }
}
