//! The body of an event for a webhook with `body: "thin"`: what has happened where, without names, texts, contact details
//! and other data of the visitor. Unlike the full bodies, it is the same for all events.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::error::Error;

#[derive(Default, Serialize, Deserialize, JsonSchema)]
pub struct ThinEvent {
    event_name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    widget_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    chat_id: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seq: Option<u64>,
    /// In seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    timestamp: Option<u64>,
    /// Only in agent_status_changed and channel_status_changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    status: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    offline_message_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    visitor: Option<ThinVisitor>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent: Option<ThinAgent>,
    /// Only in message, delivery_failed and delivered_late.
    #[serde(default, deserialize_with = "object", skip_serializing_if = "Option::is_none")]
    message: Option<ThinMessage>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    call: Option<ThinCall>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ThinVisitor {
    number: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    external_id: Option<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ThinAgent {
    id: u64,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ThinMessage {
    id: String,
    seq: u64,
    r#type: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sender_type: Option<String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ThinCall {
    r#type: String,
    status: String,
}

impl ThinEvent {
    /// Returns what remains of the full body of an event, whose fields have these types.
    pub fn of(full: &Value) -> Result<Self, Error> {
        Self::deserialize(full).map_err(Error::internal)
    }
}

/// Reads an object of this type and ignores anything else: the `message` of an offline_message is a text.
fn object<'de, D: Deserializer<'de>, T: DeserializeOwned>(deserializer: D) -> Result<Option<T>, D::Error> {
    Ok(serde_json::from_value(Value::deserialize(deserializer)?).ok())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::json;

    use super::*;

    #[test]
    fn thin_event_has_no_names_and_texts() {
        let full = json!({
            "event_name": "message", "widget_id": "c", "chat_id": 7, "seq": 3, "timestamp": 1,
            "visitor": { "number": "4", "name": "Ada", "email": "ada@example.com", "external_id": "u-1" },
            "agent": { "id": 1, "name": "Sam" }, "user_token": "secret", "page": { "url": "https://a.example" },
            "message": { "id": "m", "seq": 2, "message": "Hello", "type": "visitor" },
        });
        let thin = json!({
            "event_name": "message", "widget_id": "c", "chat_id": 7, "seq": 3, "timestamp": 1,
            "visitor": { "number": "4", "external_id": "u-1" }, "agent": { "id": 1 },
            "message": { "id": "m", "seq": 2, "type": "visitor" },
        });
        assert_eq!(json!(ThinEvent::of(&full).unwrap()), thin);
        let offline = json!({ "event_name": "offline_message", "message": "Hello", "agent": null });
        assert_eq!(json!(ThinEvent::of(&offline).unwrap()), json!({ "event_name": "offline_message" }));
    }
}
