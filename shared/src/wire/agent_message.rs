//! An agent's or a bot's message on its way to the integrator (specification, A2).

use serde_json::{Map, Value, json};

use super::content;
use crate::domain::chat::From;
use crate::domain::content::{Content, Typing};

/// The body of a message. `external_id` is returned as it came.
pub fn body(from: &From, external_id: &str, id: &str, content: &Content) -> Value {
    let mut message = content::write(content);
    message.insert("id".to_owned(), json!(id));
    envelope(from, external_id, &message)
}

/// The body of a typing notice.
pub fn typing(from: &From, external_id: &str, typing: Typing) -> Value {
    envelope(from, external_id, &Map::from_iter([("type".to_owned(), json!(typing.name()))]))
}

fn envelope(from: &From, external_id: &str, message: &Map<String, Value>) -> Value {
    let (name, photo) = match from {
        From::Agent(author) => (author.name.as_str(), author.photo.as_ref()),
        From::Bot(name) => (name.as_str(), None),
        // Neither is ever sent to an integrator.
        From::Visitor | From::System => ("", None),
    };
    let photo = photo.map(|photo| ("photo".to_owned(), json!(photo)));
    let sender: Map<String, Value> = [("name".to_owned(), json!(name))].into_iter().chain(photo).collect();
    json!({ "sender": sender, "recipient": { "id": external_id }, "message": message })
}
