//! The bodies of requests to the integrator's server: messages from agents and bots, and agents' typing notices
//! (specification, table A2).

use schemars::{JsonSchema, Schema, json_schema};
use serde::Serialize;
use serde_json::{Number, json};

use crate::domain::chats::chat::{Chat, Sender};
use crate::domain::chats::media::MediaType;
use crate::domain::chats::message_content::{Content, TypingNotice};
use crate::domain::named::Named;
use crate::wire::channels::message_content::MessageFields;
use crate::wire::fields::described::Uuid;
use crate::wire::fields::urls::WebUrl;
use crate::wire::fields::values::{Optional, inline_schema};

/// Table A2.
#[derive(Serialize, JsonSchema)]
pub struct IntegratorMessage {
    sender: IntegratorSender,
    recipient: Recipient,
    message: IntegratorContent,
}

#[derive(Serialize, JsonSchema)]
pub struct IntegratorSender {
    #[serde(skip_serializing_if = "Optional::is_absent")]
    r#type: Optional<WriterType>,
    name: String,
    #[serde(skip_serializing_if = "Optional::is_absent")]
    photo: Optional<WebUrl>,
}

/// Whether an agent or a bot writes to the visitor, who may have to be told.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WriterType {
    Agent,
    Bot,
}

impl WriterType {
    pub fn of(sender: &Sender) -> Option<Self> {
        match sender {
            Sender::Agent(_) => Some(Self::Agent),
            Sender::Bot(_) => Some(Self::Bot),
            Sender::Visitor | Sender::System => None,
        }
    }
}

#[derive(Serialize, JsonSchema)]
pub struct Recipient {
    /// The visitor's last sender.id, in its original type: a number is returned as a number.
    id: RecipientId,
}

#[derive(Serialize)]
#[serde(untagged)]
enum RecipientId {
    Text(String),
    Number(Number),
}

inline_schema!(RecipientId, "RecipientId", json_schema!({ "type": ["string", "integer"] }));

/// Fields that do not apply to the message type are absent.
#[derive(Serialize, JsonSchema)]
#[schemars(transform = with_sent_types)]
pub struct IntegratorContent {
    #[serde(flatten)]
    fields: MessageFields,
    /// Absent in a typing notice.
    #[serde(skip_serializing_if = "Optional::is_absent")]
    #[schemars(with = "Uuid")]
    id: Optional<String>,
}

/// Notes, calls and events are not sent to integrators.
fn with_sent_types(message: &mut Schema) {
    let (own, rich) = ([Content::TEXT], [Content::MARKDOWN, Content::BUTTONS]);
    if let Some(kind) = message.pointer_mut("/properties/type") {
        let names = [&own, &*MediaType::names(), &rich, &*TypingNotice::names()].concat();
        *kind = json!({ "type": "string", "enum": names });
    }
}

impl IntegratorMessage {
    pub fn new(from: &Sender, chat: &Chat, id: &str, content: &Content) -> Self {
        let message = IntegratorContent { fields: content.into(), id: Optional(Some(id.to_owned())) };
        Self { sender: from.into(), recipient: chat.into(), message }
    }

    pub fn typing_notice(from: &Sender, chat: &Chat, notice: TypingNotice) -> Self {
        let message = IntegratorContent { fields: MessageFields::of_typing_notice(notice), id: Optional(None) };
        Self { sender: from.into(), recipient: chat.into(), message }
    }
}

impl From<&Sender> for IntegratorSender {
    fn from(sender: &Sender) -> Self {
        let (name, photo) = match sender {
            Sender::Agent(author) => (author.name.clone(), author.photo.clone()),
            Sender::Bot(name) => (name.clone(), None),
            // Entries whose sender is the visitor or the system are never delivered to a channel.
            Sender::Visitor | Sender::System => (String::new(), None),
        };
        Self { r#type: Optional(WriterType::of(sender)), name, photo: Optional(photo.map(WebUrl)) }
    }
}

impl From<&Chat> for Recipient {
    fn from(chat: &Chat) -> Self {
        let number = serde_json::from_str::<Number>(&chat.external_id).ok().filter(|_| chat.has_numeric_id);
        Self { id: number.map_or_else(|| RecipientId::Text(chat.external_id.clone()), RecipientId::Number) }
    }
}
