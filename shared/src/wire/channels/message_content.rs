//! Parses and builds the `message` object of the channel API (specification, tables A1 to A3). The object has the same
//! fields in requests from and to an integrator. In requests to an integrator, it can additionally contain the Markdown
//! or the buttons of a bot's message, if the channel can display them. The endpoints for agents, widgets and exports
//! use the same fields.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::{Number, Value};

use crate::domain::bots::bot::BotNotification;
use crate::domain::chats::media::{Media, MediaField, MediaMessage, MediaType};
use crate::domain::chats::message_content::{
    Button, ButtonId, Content, RichFormat, RichMessage, TypingNotice, truncate_chars,
};
use crate::domain::deliveries::webhook_event::WebhookEvent;
use crate::domain::files::upload::UploadedFiles;
use crate::domain::named::Named;
use crate::error::Error;
use crate::wire::fields::json_fields::Fields;
use crate::wire::fields::urls::WebUrl;
use crate::wire::fields::values::{Optional, True, inline_schema};

/// The maximum length of a visitor's message. A longer text is truncated (specification, Limits).
pub const MAX_VISITOR_TEXT_CHARS: usize = 1_000;
/// The maximum length of a name, a title or an id.
const MAX_MEDIA_FIELD_CHARS: usize = 1_000;
/// In degrees.
const MAX_LATITUDE: f64 = 90.0;
const MAX_LONGITUDE: f64 = 180.0;
/// No maximum length: a text of any length is accepted and truncated later.
const UNLIMITED_CHARS: usize = usize::MAX;

#[derive(Clone, Debug, PartialEq)]
pub enum ParsedMessage {
    Content(Box<Content>),
    Typing(TypingNotice),
}

/// Where the file of a message may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileSource {
    /// At an address that the sender names.
    Address,
    /// There, or in the bucket, to which the sender has uploaded it.
    AddressOrUpload,
}

/// Parses a `message` object and truncates its text to `max_text_chars` characters.
pub fn parse_message_object(
    message: Fields<'_>,
    max_text_chars: usize,
    source: FileSource,
) -> Result<ParsedMessage, Error> {
    let name = message.required_text("type", MAX_MEDIA_FIELD_CHARS)?;
    if let Some(typing) = TypingNotice::parse(&name) {
        return Ok(ParsedMessage::Typing(typing));
    }
    let media_type = MediaType::parse(&name);
    if name != Content::TEXT && media_type.is_none() {
        let names = [&[Content::TEXT], &*TypingNotice::names(), &*MediaType::names()].concat().join(", ");
        return Err(message.invalid("type", format_args!("must be one of {names}")));
    }
    // The id is only validated here. A caller that needs its value reads the field itself.
    message.text_or_number("id", MAX_MEDIA_FIELD_CHARS)?;
    let truncate = |text: String| truncate_chars(&text, max_text_chars);
    Ok(ParsedMessage::Content(Box::new(match media_type {
        None => Content::Text {
            text: truncate(message.required_text("text", UNLIMITED_CHARS)?),
            force_reply: false,
            button_id: parse_button_id(message)?,
        },
        Some(media_type) => {
            let text = message.text("text", UNLIMITED_CHARS)?.map(truncate);
            Content::Media(Box::new(parse_media_message(message, media_type, text, source)?))
        }
    })))
}

fn parse_button_id(message: Fields<'_>) -> Result<Option<ButtonId>, Error> {
    let id = message.text_or_number("button_id", MAX_MEDIA_FIELD_CHARS)?;
    let is_number = message.value("button_id").is_some_and(Value::is_number);
    Ok(id.map(if is_number { ButtonId::Number } else { ButtonId::Text }))
}

/// Parses the file or place of a message. The fields of an uploaded file are those of the upload, so the message only
/// names it.
pub(crate) fn parse_media_message(
    message: Fields<'_>,
    media_type: MediaType,
    text: Option<String>,
    source: FileSource,
) -> Result<MediaMessage, Error> {
    let uploaded = match source {
        FileSource::Address => None,
        FileSource::AddressOrUpload => parse_uploaded(message)?,
    };
    if uploaded.is_none() {
        require_media_fields(message, media_type)?;
    }
    Ok(MediaMessage { media_type, text, media: parse_media(message)?, uploaded })
}

fn parse_uploaded(message: Fields<'_>) -> Result<Option<UploadedFiles>, Error> {
    let Some(file_id) = message.text("file_id", MAX_MEDIA_FIELD_CHARS)? else { return Ok(None) };
    if message.url("file")?.is_some() {
        return Err(message.invalid("file", "cannot be combined with file_id"));
    }
    Ok(Some(UploadedFiles { file_id, thumb_id: message.text("thumb_id", MAX_MEDIA_FIELD_CHARS)? }))
}

fn require_media_fields(message: Fields<'_>, media_type: MediaType) -> Result<(), Error> {
    match media_type {
        MediaType::Location => {
            message.required_number("latitude", MAX_LATITUDE)?;
            message.required_number("longitude", MAX_LONGITUDE)?;
        }
        MediaType::Video
        | MediaType::Audio
        | MediaType::Voice
        | MediaType::Photo
        | MediaType::Sticker
        | MediaType::Document => {
            message.required_url("file")?;
            if !message.is_lenient() {
                message.required_positive("file_size")?;
                message.required_text("file_name", MAX_MEDIA_FIELD_CHARS)?;
            }
        }
    }
    Ok(())
}

fn parse_media(message: Fields<'_>) -> Result<Media, Error> {
    let mut media = Media::default();
    for (name, field) in media.fields_mut() {
        match field {
            MediaField::Url(url) => *url = message.url(name)?,
            MediaField::Text(text) => *text = message.text(name, MAX_MEDIA_FIELD_CHARS)?,
            MediaField::Count(count) => *count = message.positive(name)?,
            MediaField::Latitude(latitude) => *latitude = message.number(name, MAX_LATITUDE)?,
            MediaField::Longitude(longitude) => *longitude = message.number(name, MAX_LONGITUDE)?,
        }
    }
    Ok(media)
}

/// The type of an entry, as [`Content::name`] returns it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct MessageType(pub Cow<'static, str>);

impl From<&Content> for MessageType {
    fn from(content: &Content) -> Self {
        Self(content.name().into())
    }
}

impl JsonSchema for MessageType {
    fn schema_name() -> Cow<'static, str> {
        "MessageType".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let own = [
            Content::TEXT,
            Content::MARKDOWN,
            Content::BUTTONS,
            Content::NOTE,
            Content::HANDOVER,
            Content::CALL,
            Content::DELETED,
        ];
        let names =
            [own.as_slice(), &*MediaType::names(), &*BotNotification::names(), &*WebhookEvent::names()].concat();
        json_schema!({
            "type": "string",
            "enum": names,
            "description": "A type from table A3, a message type used by bots, note for an agent's private note, \
                            handover for what a bot told the agents, call \
                            for a phone call, deleted for a message that was deleted, or an event type.",
        })
    }
}

/// The type of a message, and the fields that apply to its type.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MessageFields {
    r#type: MessageType,
    #[serde(skip_serializing_if = "Optional::is_absent")]
    text: Optional<String>,
    #[serde(flatten)]
    media: MediaFields,
    /// Markdown.
    #[serde(skip_serializing_if = "Optional::is_absent")]
    content: Optional<String>,
    #[serde(skip_serializing_if = "Optional::is_absent")]
    buttons: Optional<MessageButtons>,
    #[serde(skip_serializing_if = "Optional::is_absent")]
    force_reply: Optional<True>,
    /// The id of the button that the visitor has pressed.
    #[serde(skip_serializing_if = "Optional::is_absent")]
    button_id: Optional<MessageButtonId>,
}

/// The file or the place in a message.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct MediaFields {
    #[serde(skip_serializing_if = "Optional::is_absent")]
    file: Optional<WebUrl>,
    #[serde(skip_serializing_if = "Optional::is_absent")]
    thumb: Optional<WebUrl>,
    #[serde(skip_serializing_if = "Optional::is_absent")]
    emoji: Optional<String>,
    /// Bytes.
    #[serde(skip_serializing_if = "Optional::is_absent")]
    #[schemars(range(min = 1))]
    file_size: Optional<u64>,
    #[serde(skip_serializing_if = "Optional::is_absent")]
    file_name: Optional<String>,
    /// Seconds.
    #[serde(skip_serializing_if = "Optional::is_absent")]
    #[schemars(range(min = 1))]
    duration: Optional<u64>,
    /// Pixels.
    #[serde(skip_serializing_if = "Optional::is_absent")]
    #[schemars(range(min = 1))]
    width: Optional<u64>,
    /// Pixels.
    #[serde(skip_serializing_if = "Optional::is_absent")]
    #[schemars(range(min = 1))]
    height: Optional<u64>,
    #[serde(skip_serializing_if = "Optional::is_absent")]
    performer: Optional<String>,
    #[serde(skip_serializing_if = "Optional::is_absent")]
    title: Optional<String>,
    #[serde(skip_serializing_if = "Optional::is_absent")]
    latitude: Optional<f64>,
    #[serde(skip_serializing_if = "Optional::is_absent")]
    longitude: Optional<f64>,
}

/// The buttons of a bot's message (specification, table B2).
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct MessageButtons(#[schemars(length(min = 1, max = 3))] Vec<MessageButton>);

#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MessageButton {
    text: String,
    #[serde(skip_serializing_if = "Optional::is_absent")]
    id: Optional<MessageButtonId>,
}

/// The id of a button with the JSON type (string or number) that the bot provider sent.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
enum MessageButtonId {
    Text(String),
    Number(Number),
}

inline_schema!(MessageButtonId, "MessageButtonId", json_schema!({ "type": ["string", "number"] }));

impl From<&Content> for MessageFields {
    fn from(content: &Content) -> Self {
        let fields = Self { text: Optional(content.own_text().map(str::to_owned)), ..Self::of_type(content.name()) };
        match content {
            Content::Text { text: _, force_reply, button_id } => {
                let button_id = Optional(button_id.as_ref().map(MessageButtonId::from));
                Self { button_id, ..fields.with_force_reply(*force_reply) }
            }
            Content::Media(message) => Self { media: message.media.clone().into(), ..fields },
            Content::Rich(RichMessage { format, text: _, force_reply, not_displayable: _ }) => {
                fields.with_format(format).with_force_reply(*force_reply)
            }
            Content::Note { .. }
            | Content::Handover(_)
            | Content::Call(_)
            | Content::Deleted(_)
            | Content::BotNotification { .. }
            | Content::Webhook(_) => fields,
        }
    }
}

impl MessageFields {
    fn of_type(name: &'static str) -> Self {
        Self {
            r#type: MessageType(name.into()),
            text: Optional(None),
            media: MediaFields::default(),
            content: Optional(None),
            buttons: Optional(None),
            force_reply: Optional(None),
            button_id: Optional(None),
        }
    }

    pub fn of_typing_notice(notice: TypingNotice) -> Self {
        Self::of_type(notice.name())
    }

    fn with_force_reply(self, force_reply: bool) -> Self {
        Self { force_reply: Optional(force_reply.then_some(True)), ..self }
    }

    fn with_format(self, format: &RichFormat) -> Self {
        match format {
            RichFormat::Markdown(content) => Self { content: Optional(Some(content.clone())), ..self },
            RichFormat::Buttons { title, buttons } => {
                let buttons = MessageButtons(buttons.iter().map(MessageButton::from).collect());
                let media = MediaFields { title: Optional(title.clone()), ..MediaFields::default() };
                Self { media, buttons: Optional(Some(buttons)), ..self }
            }
        }
    }
}

impl From<Media> for MediaFields {
    fn from(media: Media) -> Self {
        Self {
            file: Optional(media.file.map(WebUrl)),
            thumb: Optional(media.thumb.map(WebUrl)),
            emoji: Optional(media.emoji),
            file_size: Optional(media.file_size),
            file_name: Optional(media.file_name),
            duration: Optional(media.duration),
            width: Optional(media.width),
            height: Optional(media.height),
            performer: Optional(media.performer),
            title: Optional(media.title),
            latitude: Optional(media.latitude),
            longitude: Optional(media.longitude),
        }
    }
}

impl From<&Button> for MessageButton {
    fn from(Button { text, id }: &Button) -> Self {
        Self { text: text.clone(), id: Optional(id.as_ref().map(MessageButtonId::from)) }
    }
}

impl From<&ButtonId> for MessageButtonId {
    fn from(id: &ButtonId) -> Self {
        match id {
            ButtonId::Text(text) => Self::Text(text.clone()),
            ButtonId::Number(digits) => digits.parse().map_or_else(|_| Self::Text(digits.clone()), Self::Number),
        }
    }
}
