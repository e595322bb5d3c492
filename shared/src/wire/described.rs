//! The fields of bodies that hand-written readers and writers handle: the specification's parts A, B and C, and calls.
//! These types only describe the fields for the generated documents.

use schemars::{JsonSchema, json_schema};
use serde::Serialize;

use crate::wire::message_content::MessageType;
use crate::wire::values::{True, inline_schema};

#[derive(Serialize, JsonSchema)]
pub struct Success {
    pub result: ResultOk,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ResultOk {
    Ok,
}

/// A blank value counts as absent.
#[derive(Default)]
pub struct ShortText;

inline_schema!(ShortText, "ShortText", json_schema!({ "type": ["string", "null"], "maxLength": 1000 }));

pub struct WebUrl;

inline_schema!(
    WebUrl,
    "WebUrl",
    json_schema!({
        "type": "string", "format": "uri", "maxLength": 4096, "pattern": "^[Hh][Tt][Tt][Pp][Ss]?://",
    })
);

/// A blank value counts as absent.
#[derive(Default)]
pub struct WebUrlOrBlank;

inline_schema!(
    WebUrlOrBlank,
    "WebUrlOrBlank",
    json_schema!({
        "type": ["string", "null"], "maxLength": 4096, "pattern": "^(\\s*$|[Hh][Tt][Tt][Pp][Ss]?://)",
    })
);

pub struct Uuid;

inline_schema!(Uuid, "Uuid", json_schema!({ "type": "string", "format": "uuid" }));

pub struct DigitString;

inline_schema!(DigitString, "DigitString", json_schema!({ "type": "string", "pattern": "^[0-9]+$" }));

/// The file or the place in a message.
#[derive(JsonSchema)]
pub struct MediaFields {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<WebUrl>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thumb: Option<WebUrl>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub emoji: Option<String>,
    /// Bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub file_size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_name: Option<String>,
    /// Seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub duration: Option<u64>,
    /// Pixels.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub width: Option<u64>,
    /// Pixels.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub height: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub performer: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latitude: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longitude: Option<f64>,
}

#[derive(JsonSchema)]
#[serde(transparent)]
pub struct MessageButtons(#[schemars(length(min = 1, max = 3))] pub Vec<MessageButton>);

#[derive(JsonSchema)]
pub struct MessageButton {
    pub text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<MessageButtonId>,
}

pub struct MessageButtonId;

inline_schema!(MessageButtonId, "MessageButtonId", json_schema!({ "type": ["string", "number"] }));

/// The type of a message, and the fields that apply to its type.
#[derive(JsonSchema)]
pub struct MessageFields {
    pub r#type: MessageType,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    #[serde(flatten)]
    pub media: MediaFields,
    /// Markdown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buttons: Option<MessageButtons>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub force_reply: Option<True>,
}
