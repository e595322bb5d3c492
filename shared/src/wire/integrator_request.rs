//! Builds the bodies of requests to the integrator's server: messages from agents and bots, and agents' typing notices
//! (specification, table A2).

use serde_json::{Map, Number, Value, json};

use crate::domain::chat::{Chat, Sender};
use crate::domain::message_content::{Content, TypingNotice};
use crate::wire::json_object::without_nulls;
use crate::wire::message_content;

pub fn message_json(from: &Sender, chat: &Chat, id: &str, content: &Content) -> Value {
    let mut message = message_content::message_fields(content);
    message.insert("id".to_owned(), json!(id));
    request_body(from, chat, &message)
}

pub fn typing_json(from: &Sender, chat: &Chat, typing: TypingNotice) -> Value {
    request_body(from, chat, &Map::from_iter([("type".to_owned(), json!(typing.name()))]))
}

fn request_body(from: &Sender, chat: &Chat, message: &Map<String, Value>) -> Value {
    let (name, photo) = match from {
        Sender::Agent(author) => (author.name.as_str(), author.photo.as_ref()),
        Sender::Bot(name) => (name.as_str(), None),
        // Entries whose sender is the visitor or the system are never delivered to a channel.
        Sender::Visitor | Sender::System => ("", None),
    };
    let sender = without_nulls([("name", json!(name)), ("photo", json!(photo))]);
    json!({ "sender": sender, "recipient": { "id": recipient_id(chat) }, "message": message })
}

/// Returns the visitor's `sender.id` with the same JSON type (string or number) as in the visitor's last message.
fn recipient_id(chat: &Chat) -> Value {
    let number = serde_json::from_str::<Number>(&chat.external_id).ok().filter(|_| chat.has_numeric_id);
    number.map_or_else(|| json!(chat.external_id), Value::Number)
}
