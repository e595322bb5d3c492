//! An agent's message on its way to the integrator (specification, A2).

use serde_json::{Map, Value, json};

use super::content;
use crate::domain::account::Author;
use crate::domain::content::{Content, Typing};

/// The body of a message. `external_id` is returned as it came.
pub fn body(author: &Author, external_id: &str, id: &str, content: &Content) -> Value {
    let mut message = content::write(content);
    message.insert("id".to_owned(), json!(id));
    envelope(author, external_id, &message)
}

/// The body of a typing notice.
pub fn typing(author: &Author, external_id: &str, typing: Typing) -> Value {
    envelope(author, external_id, &Map::from_iter([("type".to_owned(), json!(typing.name()))]))
}

fn envelope(author: &Author, external_id: &str, message: &Map<String, Value>) -> Value {
    let mut sender = Map::from_iter([("name".to_owned(), json!(author.name))]);
    if let Some(photo) = &author.photo {
        sender.insert("photo".to_owned(), json!(photo));
    }
    json!({ "sender": sender, "recipient": { "id": external_id }, "message": message })
}
