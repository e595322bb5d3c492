//! Parses and builds the `message` object of the channel API (specification, tables A1 to A3). The object has the same
//! fields in requests from and to an integrator. In requests to an integrator, it can additionally contain the Markdown
//! or the buttons of a bot's message, if the channel can display them. The endpoints for agents, widgets and exports
//! use the same fields.

use serde_json::{Map, Value, json};

use crate::domain::message_content::{
    Button, ButtonId, Content, ContentKind, Media, RequiredFields, TypingNotice, truncate_chars,
};
use crate::error::Error;
use crate::wire::json_fields::Fields;
use crate::wire::json_object::without_nulls;

/// The maximum length of a visitor's message. A longer text is truncated (specification, Limits).
pub const MAX_VISITOR_TEXT_CHARS: usize = 1_000;
/// The maximum length of a name, a title or an id.
const MAX_MEDIA_FIELD_CHARS: usize = 1_000;
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
    let kind = ContentKind::parse_channel_api_kind(&name).ok_or_else(|| {
        message.invalid(
            "type",
            "must be one of text, typein, typeout, video, audio, voice, photo, sticker, document, location",
        )
    })?;
    // The id is only validated here. A caller that needs its value reads the field itself.
    message.text_or_number("id", MAX_MEDIA_FIELD_CHARS)?;
    let text = match kind.required_fields() {
        RequiredFields::Text => Some(message.required_text("text", UNLIMITED_CHARS)?),
        RequiredFields::File | RequiredFields::Coordinates => message.text("text", UNLIMITED_CHARS)?,
    };
    let text = text.map(|text| truncate_chars(&text, max_text_chars));
    let media =
        if kind == ContentKind::Text { Media::default() } else { parse_media(message, kind.required_fields())? };
    Ok(ParsedMessage::Content(Box::new(Content { kind, text, media, rich: None, call: None })))
}

fn parse_media(message: Fields<'_>, requires: RequiredFields) -> Result<Media, Error> {
    let is_file = requires == RequiredFields::File;
    let is_place = requires == RequiredFields::Coordinates;
    let needs_name = is_file && !message.is_lenient();
    Ok(Media {
        file: if is_file { Some(message.required_url("file")?) } else { message.url("file")? },
        thumb: message.url("thumb")?,
        emoji: message.text("emoji", MAX_MEDIA_FIELD_CHARS)?,
        file_size: if needs_name {
            Some(message.required_positive("file_size")?)
        } else {
            message.positive("file_size")?
        },
        file_name: if needs_name {
            Some(message.required_text("file_name", MAX_MEDIA_FIELD_CHARS)?)
        } else {
            message.text("file_name", MAX_MEDIA_FIELD_CHARS)?
        },
        duration: message.positive("duration")?,
        width: message.positive("width")?,
        height: message.positive("height")?,
        performer: message.text("performer", MAX_MEDIA_FIELD_CHARS)?,
        title: message.text("title", MAX_MEDIA_FIELD_CHARS)?,
        latitude: if is_place {
            Some(message.required_number("latitude", 90.0)?)
        } else {
            message.number("latitude", 90.0)?
        },
        longitude: if is_place {
            Some(message.required_number("longitude", 180.0)?)
        } else {
            message.number("longitude", 180.0)?
        },
    })
}

/// Returns the fields of a `message` object. Empty fields are left out.
pub fn message_fields(content: &Content) -> Map<String, Value> {
    let Content { kind, text, media, rich, call: _ } = content;
    let rich = rich.as_deref();
    let Media {
        file,
        thumb,
        emoji,
        file_size,
        file_name,
        duration,
        width,
        height,
        performer,
        title,
        latitude,
        longitude,
    } = media;
    without_nulls([
        ("type", json!(kind.name())),
        ("text", json!(text)),
        ("file", json!(file)),
        ("thumb", json!(thumb)),
        ("emoji", json!(emoji)),
        ("file_size", json!(file_size)),
        ("file_name", json!(file_name)),
        ("duration", json!(duration)),
        ("width", json!(width)),
        ("height", json!(height)),
        ("performer", json!(performer)),
        ("title", json!(rich.and_then(|rich| rich.title.as_ref()).or(title.as_ref()))),
        ("latitude", json!(latitude)),
        ("longitude", json!(longitude)),
        ("content", json!(rich.and_then(|rich| rich.content.as_ref()))),
        (
            "buttons",
            rich.filter(|rich| !rich.buttons.is_empty()).map_or(Value::Null, |rich| buttons_json(&rich.buttons)),
        ),
        ("force_reply", json!(rich.filter(|rich| rich.force_reply).map(|_| true))),
    ])
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
