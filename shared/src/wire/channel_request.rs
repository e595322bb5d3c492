//! An agent's or a bot's message on its way to the integrator (specification, A2).

use serde_json::{Map, Number, Value, json};

use crate::domain::chat::{Chat, Sender};
use crate::domain::content::{Content, Typing};
use crate::wire::content;

/// The body of a message.
pub fn body(from: &Sender, chat: &Chat, id: &str, content: &Content) -> Value {
    let mut message = content::write(content);
    message.insert("id".to_owned(), json!(id));
    envelope(from, chat, &message)
}

/// The body of a typing notice.
pub fn typing(from: &Sender, chat: &Chat, typing: Typing) -> Value {
    envelope(from, chat, &Map::from_iter([("type".to_owned(), json!(typing.name()))]))
}

fn envelope(from: &Sender, chat: &Chat, message: &Map<String, Value>) -> Value {
    let (name, photo) = match from {
        Sender::Agent(author) => (author.name.as_str(), author.photo.as_ref()),
        Sender::Bot(name) => (name.as_str(), None),
        // Neither is ever sent to an integrator.
        Sender::Visitor | Sender::System => ("", None),
    };
    let photo = photo.map(|photo| ("photo".to_owned(), json!(photo)));
    let sender: Map<String, Value> = [("name".to_owned(), json!(name))].into_iter().chain(photo).collect();
    json!({ "sender": sender, "recipient": { "id": recipient_id(chat) }, "message": message })
}

/// `sender.id` in the form in which it came last.
fn recipient_id(chat: &Chat) -> Value {
    let number = serde_json::from_str::<Number>(&chat.external_id).ok().filter(|_| chat.has_numeric_id);
    number.map_or_else(|| json!(chat.external_id), Value::Number)
}
