//! Parses and builds the `message` object of the channel API (specification, tables A1 to A3). The object has the same
//! fields in requests from and to an integrator. In requests to an integrator, it can additionally contain the Markdown
//! or the buttons of a bot's message, if the channel can display them. The endpoints for agents, widgets and exports
//! use the same fields.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::domain::bot::BotNotification;
use crate::domain::media::{Media, MediaField, MediaMessage, MediaType};
use crate::domain::message_content::{
    Button, ButtonId, Content, RichFormat, RichMessage, TypingNotice, truncate_chars,
};
use crate::domain::named::Named;
use crate::domain::webhook_event::WebhookEvent;
use crate::error::Error;
use crate::wire::described;
use crate::wire::json_fields::Fields;
use crate::wire::json_object::without_nulls;

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

/// Parses a `message` object and truncates its text to `max_text_chars` characters.
pub fn parse_message_object(message: Fields<'_>, max_text_chars: usize) -> Result<ParsedMessage, Error> {
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
        None => Content::text(truncate(message.required_text("text", UNLIMITED_CHARS)?)),
        Some(media_type) => Content::Media(Box::new(MediaMessage {
            media_type,
            text: message.text("text", UNLIMITED_CHARS)?.map(truncate),
            media: parse_media(message, media_type)?,
        })),
    })))
}

fn parse_media(message: Fields<'_>, media_type: MediaType) -> Result<Media, Error> {
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
        let own = [Content::TEXT, Content::MARKDOWN, Content::BUTTONS, Content::NOTE, Content::CALL];
        let events = WebhookEvent::ALL.map(WebhookEvent::name);
        let names = [own.as_slice(), &*MediaType::names(), &*BotNotification::names(), &events].concat();
        json_schema!({
            "type": "string",
            "enum": names,
            "description": "A type from table A3, a message type used by bots, note for an agent's private note, call \
                            for a phone call, or an event type.",
        })
    }
}

/// The type of a message, and the fields that apply to its type.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(transparent)]
#[schemars(with = "described::MessageFields")]
pub struct MessageFields(Map<String, Value>);

impl From<&Content> for MessageFields {
    fn from(content: &Content) -> Self {
        Self(message_fields(content))
    }
}

/// Returns the fields of a `message` object. Empty fields are left out.
pub fn message_fields(content: &Content) -> Map<String, Value> {
    let mut fields = without_nulls([("type", json!(content.name())), ("text", json!(content.own_text()))]);
    match content {
        Content::Text { text: _, force_reply } => fields.extend(force_reply_field(*force_reply)),
        Content::Media(message) => fields.extend(media_fields(message.media.clone())),
        Content::Rich(RichMessage { format, text: _, force_reply, not_displayable: _ }) => {
            match format {
                RichFormat::Markdown(content) => fields.extend([("content".to_owned(), json!(content))]),
                RichFormat::Buttons { title, buttons } => {
                    fields.extend(without_nulls([("title", json!(title)), ("buttons", buttons_json(buttons))]));
                }
            }
            fields.extend(force_reply_field(*force_reply));
        }
        Content::Note(_) | Content::Call(_) | Content::BotNotification { .. } | Content::Webhook(_) => {}
    }
    fields
}

fn force_reply_field(force_reply: bool) -> Option<(String, Value)> {
    force_reply.then(|| ("force_reply".to_owned(), json!(true)))
}

fn media_fields(mut media: Media) -> Vec<(String, Value)> {
    let field_json = |(name, field): (&str, MediaField<'_>)| {
        let value = match field {
            MediaField::Url(text) | MediaField::Text(text) => json!(text.as_ref()?),
            MediaField::Count(count) => json!((*count)?),
            MediaField::Latitude(degrees) | MediaField::Longitude(degrees) => json!((*degrees)?),
        };
        Some((name.to_owned(), value))
    };
    media.fields_mut().into_iter().filter_map(field_json).collect()
}

/// Returns the id of a button with the JSON type (string or number) that the bot provider sent.
fn button_id_json(id: &ButtonId) -> Value {
    match id {
        ButtonId::Text(text) => json!(text),
        ButtonId::Number(digits) => digits.parse().map_or_else(|_| json!(digits), Value::Number),
    }
}

/// Returns the `buttons` of a bot's message (specification, table B2).
fn buttons_json(buttons: &[Button]) -> Value {
    let button_json = |button: &Button| match &button.id {
        Some(id) => json!({ "text": button.text, "id": button_id_json(id) }),
        None => json!({ "text": button.text }),
    };
    buttons.iter().map(button_json).collect()
}
