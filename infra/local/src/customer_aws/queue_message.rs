//! `SendMessage` of SQS to the queues of customers.

use std::collections::BTreeMap;

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{CustomerAws, Session};

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct SendMessage {
    queue_url: String,
    message_body: String,
    message_group_id: Option<String>,
    message_deduplication_id: Option<String>,
    #[serde(default)]
    message_attributes: BTreeMap<String, Attribute>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Attribute {
    string_value: String,
}

impl CustomerAws {
    /// Handles a request to SQS that is signed with the credentials of a role.
    pub fn handle_queue_request(&self, session: &Session, action: &str, body: &[u8]) -> Response {
        let message = match serde_json::from_slice::<SendMessage>(body) {
            Ok(message) if action == "SendMessage" => message,
            Ok(_) | Err(_) => return error("com.amazonaws.sqs#UnsupportedOperation", "only SendMessage is emulated"),
        };
        if message.queue_url.ends_with(".fifo") != message.message_group_id.is_some() {
            return error("com.amazon.coral.service#InvalidParameterValue", "MessageGroupId is for FIFO queues only");
        }
        let attributes: BTreeMap<&str, &str> = message
            .message_attributes
            .iter()
            .map(|(name, value)| (name.as_str(), value.string_value.as_str()))
            .collect();
        self.record(json!({
            "role_arn": session.role_arn,
            "queue_url": message.queue_url,
            "body": serde_json::from_str::<Value>(&message.message_body).unwrap_or(Value::Null),
            "attributes": attributes,
            "group_id": message.message_group_id,
            "deduplication_id": message.message_deduplication_id,
        }));
        let md5 = format!("{:x}", md5::compute(&message.message_body));
        Json(json!({ "MessageId": Uuid::now_v7(), "MD5OfMessageBody": md5 })).into_response()
    }
}

fn error(code: &str, message: &str) -> Response {
    (StatusCode::BAD_REQUEST, Json(json!({ "__type": code, "message": message }))).into_response()
}
