//! Messages as the widget sends and shows them.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::contract::{Failure, Operation};
use crate::domain::chats::chat::Sender;
use crate::domain::chats::media::MediaType;
use crate::domain::chats::message_content::Content;
use crate::domain::chats::timeline_entry::TimelineEntry;
use crate::domain::named::Named;
use crate::domain::timestamp::Timestamp;
use crate::domain::visitors::widget_visitor::HistoryPosition;
use crate::error::Error;
use crate::wire::channels::channel_api::UploadableMessage;
use crate::wire::channels::message_content::{
    FileSource, MAX_VISITOR_TEXT_CHARS, MessageFields, ParsedMessage, parse_message_object,
};
use crate::wire::fields::json_fields::Fields;
use crate::wire::fields::urls::WebUrl;
use crate::wire::fields::values::{MAX_INTEGER, OptionalText, SequentialNumber, Whole};
use crate::wire::widget::{BrowserPage, SAMPLE_TOKEN, VisitorToken, WidgetMessageId};

/// The maximum number of messages in a response.
pub const MAX_MESSAGES: usize = 50;
const MAX_INVITE_CHARS: usize = 1_000;
const SAMPLE_MESSAGE_ID: &str = "0c1b7a52-0d0e-4f0e-9a53-1f6f1d2c9b11";

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::post("/widget/{widget_id}/message", "widgetMessage", "Sends a message from the visitor")
            .describe(
                "A text longer than 1000 characters is truncated. By default, a visitor may send 30 messages in 10 \
                 seconds.",
            )
            .body::<WidgetMessageRequest>()
            .example(
                "text",
                "",
                json!({
                    "token": SAMPLE_TOKEN, "message_id": SAMPLE_MESSAGE_ID,
                    "message": { "type": "text", "text": "Do you ship to Malta?" },
                    "page": { "url": "https://shop.example/cart", "title": "Cart" },
                }),
            )
            .answers::<StoredWidgetMessage>(200, "The stored message.")
            .answer_example(
                "stored",
                None,
                json!({
                    "chat_id": 17,
                    "message": {
                        "seq": 1, "chat_id": 17, "at": 1_790_331_234_567_u64, "from": "visitor", "type": "text",
                        "text": "Do you ship to Malta?", "message_id": SAMPLE_MESSAGE_ID,
                    },
                }),
            )
            .fails(&[Failure::IdempotencyKeyReused]),
        Operation::post("/widget/{widget_id}/history", "listWidgetHistory", "Lists the messages before a given one")
            .describe(
                "Returns the last 50 messages before an entry of one of the visitor's chats, oldest first. If the chat \
                 has fewer, the page continues with the visitor's earlier chats; chat_id of each message is its chat. \
                 Messages that the visitor has hidden with clear_history, and those whose retention period is over, \
                 are not returned. For the next page, send chat_id and seq of the first message. The list is empty if \
                 the chat does not belong to the visitor.",
            )
            .body::<HistoryRequest>()
            .example(
                "page",
                "The messages before the first one that is shown",
                json!({ "token": SAMPLE_TOKEN, "before": { "chat_id": 17, "seq": 12 } }),
            )
            .answers::<WidgetHistory>(200, "The messages.")
            .answer_example("page", Some("The end of an earlier chat"), sample_history()),
    ]
}

fn sample_history() -> Value {
    json!({
        "messages": [
            {
                "seq": 1, "chat_id": 9, "at": 1_793_003_104_000_u64, "from": "visitor", "type": "text",
                "text": "Do you ship to Norway?",
            },
            {
                "seq": 3, "chat_id": 9, "at": 1_793_003_164_000_u64, "from": "agent", "name": "Grace Hopper",
                "type": "text", "text": "Yes, within three days.",
            },
        ],
        "has_earlier": false,
    })
}

#[derive(Deserialize, JsonSchema)]
pub struct WidgetMessageRequest {
    pub token: VisitorToken,
    pub message_id: WidgetMessageId,
    pub message: MessageObject,
    /// The invitation that the visitor has accepted.
    #[serde(default)]
    pub invite: OptionalText<MAX_INVITE_CHARS>,
    /// The department of the chat that the message opens, if the widget has this department.
    pub department_id: Option<Whole<1, MAX_INTEGER>>,
    pub page: Option<BrowserPage>,
}

impl WidgetMessageRequest {
    pub fn content(&self) -> Result<Content, Error> {
        let message = Fields::of_item(&self.message.0, "message")?;
        match parse_message_object(message, MAX_VISITOR_TEXT_CHARS, FileSource::AddressOrUpload)? {
            ParsedMessage::Content(content) => Ok(*content),
            ParsedMessage::Typing(_) => Err(message.invalid("type", "of a typing notice is sent through the socket")),
        }
    }
}

/// A `message` object, which has the format of the channel API (specification, table A3) and its reader.
pub struct MessageObject(pub Value);

impl<'de> Deserialize<'de> for MessageObject {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Map::deserialize(deserializer).map(|fields| Self(Value::Object(fields)))
    }
}

impl JsonSchema for MessageObject {
    fn inline_schema() -> bool {
        UploadableMessage::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        UploadableMessage::schema_name()
    }

    fn json_schema(schemas: &mut SchemaGenerator) -> Schema {
        UploadableMessage::json_schema(schemas)
    }
}

#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "WidgetHistoryRequest")]
pub struct HistoryRequest {
    pub token: VisitorToken,
    /// The first message that is already known. Any number is accepted as seq, for example last_seq of the chat plus 1.
    before: WidgetHistoryPosition,
}

#[derive(Deserialize, JsonSchema)]
struct WidgetHistoryPosition {
    chat_id: SequentialNumber,
    seq: SequentialNumber,
}

impl HistoryRequest {
    pub fn position(&self) -> HistoryPosition {
        let WidgetHistoryPosition { chat_id: SequentialNumber(chat_id), seq: SequentialNumber(seq) } = self.before;
        HistoryPosition { chat_id, seq }
    }
}

#[derive(Serialize, JsonSchema)]
pub struct WidgetHistory {
    #[schemars(length(max = MAX_MESSAGES))]
    pub messages: Vec<WidgetMessage>,
    /// Whether there may be earlier messages.
    pub has_earlier: bool,
}

/// A message as the visitor sees it. Private notes and notifications are never among the messages.
#[derive(Clone, Serialize, JsonSchema)]
#[schemars(transform = with_visible_types)]
pub struct WidgetMessage {
    /// 0 if the message was dropped because the visitor is blacklisted.
    seq: u64,
    chat_id: u64,
    /// Unix time in milliseconds.
    at: u64,
    from: WidgetSender,
    /// The name of the agent or the bot.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    photo: Option<WebUrl>,
    #[serde(flatten)]
    fields: MessageFields,
    /// When the agent last edited the message, as Unix time in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    edited_at: Option<u64>,
    /// When the message was deleted, as Unix time in milliseconds. Its type is then deleted, and it has no text.
    #[serde(skip_serializing_if = "Option::is_none")]
    deleted_at: Option<u64>,
    /// The id that the widget gave the message. Present only in the response to message.
    #[serde(skip_serializing_if = "Option::is_none")]
    message_id: Option<String>,
}

#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum WidgetSender {
    Visitor,
    Agent,
    Bot,
}

/// The visitor sees only messages, and no notes, calls or events.
fn with_visible_types(message: &mut Schema) {
    let own = [Content::TEXT, Content::MARKDOWN, Content::BUTTONS, Content::DELETED];
    if let Some(kind) = message.pointer_mut("/properties/type") {
        let names = [own.as_slice(), &*MediaType::names()].concat();
        *kind = json!({ "type": "string", "enum": names });
    }
}

impl WidgetMessage {
    /// Returns `None` for entries that are not shown as messages: private notes, calls, entries of the system,
    /// notifications, and messages that cannot be displayed.
    pub fn new(entry: &TimelineEntry) -> Option<Self> {
        let (from, name, photo) = match &entry.from {
            Sender::Visitor => (WidgetSender::Visitor, None, None),
            Sender::Agent(agent) => (WidgetSender::Agent, Some(agent.name.clone()), agent.photo.clone()),
            Sender::Bot(name) => (WidgetSender::Bot, Some(name.clone()), None),
            Sender::System => return None,
        };
        let message = Self { from, name, photo: photo.map(WebUrl), ..Self::of_visitor(&entry.content, entry.at) };
        let (edited_at, deleted_at) = (entry.edited_at.map(|at| at.0), entry.deleted_at.map(|at| at.0));
        let message = Self { seq: entry.seq, chat_id: entry.chat_id, edited_at, deleted_at, ..message };
        (entry.content.is_visible_to_visitor() || entry.content.is_deleted()).then_some(message)
    }

    fn of_visitor(content: &Content, at: Timestamp) -> Self {
        Self {
            seq: 0,
            chat_id: 0,
            at: at.0,
            from: WidgetSender::Visitor,
            name: None,
            photo: None,
            fields: content.into(),
            edited_at: None,
            deleted_at: None,
            message_id: None,
        }
    }
}

/// The visitor's own message.
#[derive(Serialize, JsonSchema)]
pub struct StoredWidgetMessage {
    /// 0 if the message was dropped because the visitor is blacklisted.
    chat_id: u64,
    message: WidgetMessage,
}

impl StoredWidgetMessage {
    pub fn new(entry: &TimelineEntry, message_id: &WidgetMessageId) -> Self {
        let (chat_id, seq) = (entry.chat_id, entry.seq);
        let dropped = Self::blacklisted(&entry.content, message_id, entry.at);
        Self { chat_id, message: WidgetMessage { seq, chat_id, ..dropped.message } }
    }

    /// Returns the response to a message that was dropped because its visitor is blacklisted. The widget shows the
    /// message as sent. The numbers of the message and of its chat are 0.
    pub fn blacklisted(content: &Content, message_id: &WidgetMessageId, now: Timestamp) -> Self {
        let message_id = Some(message_id.as_str().to_owned());
        Self { chat_id: 0, message: WidgetMessage { message_id, ..WidgetMessage::of_visitor(content, now) } }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::wire::fields::reader::read;

    #[test]
    fn history_needs_a_position() {
        let parse = |before: Value| read::<HistoryRequest>(&json!({ "token": "t", "before": before }));
        let position = HistoryPosition { chat_id: 7, seq: 3 };
        assert_eq!(parse(json!({ "chat_id": 7, "seq": 3 })).unwrap().position(), position);
        for (field, before) in [
            ("before", json!(null)),
            ("before", json!(3)),
            ("before.chat_id", json!({ "seq": 3 })),
            ("before.seq", json!({ "chat_id": 7 })),
            ("before.seq", json!({ "chat_id": 7, "seq": 0 })),
        ] {
            assert_eq!(parse(before.clone()).err().unwrap().invalid_field(), Some(field), "{before}");
        }
    }

    #[test]
    fn error_names_the_invalid_field_of_a_message() {
        let text = json!({ "type": "text", "text": "Hi" });
        let content = |message: &Value| {
            read::<WidgetMessageRequest>(&json!({ "token": "t", "message_id": "m", "message": message }))?.content()
        };
        assert_eq!(content(&text).unwrap(), Content::text("Hi"));
        for (field, message) in [
            ("message", json!(null)),
            ("message", json!("Hi")),
            ("message.type", json!({})),
            ("message.type", json!({ "type": "typein" })),
            ("message.text", json!({ "type": "text" })),
        ] {
            assert_eq!(content(&message).unwrap_err().invalid_field(), Some(field), "{message}");
        }
    }
}
