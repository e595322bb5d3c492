//! The `message` object of the channel API (A1, A2, A3), the same shape in both directions. Outward it also carries
//! what a bot said, to channels that can show it.

use serde_json::{Map, Value, json};

use crate::domain::content::{Button, ButtonId, Content, Kind, Media, Requires, Typing, cut};
use crate::error::Error;
use crate::wire::fields::Fields;

/// Characters of a visitor's text; what is longer is cut (specification, Limits).
pub const MAX_VISITOR_TEXT_CHARS: usize = 1_000;
/// Characters of a name, a title or a comment.
const MAX_SHORT_TEXT_CHARS: usize = 1_000;
/// A text is cut, not refused, so that any length may come.
const UNLIMITED_CHARS: usize = usize::MAX;

/// What a message object says.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// Something to keep.
    Content(Box<Content>),
    /// A typing notice.
    Typing(Typing),
}

/// Reads a `message` object; `limit` is what its text is cut to.
pub fn read(message: Fields<'_>, limit: usize) -> Result<Message, Error> {
    let name = message.required_text("type", MAX_SHORT_TEXT_CHARS)?;
    if let Some(typing) = Typing::parse(&name) {
        return Ok(Message::Typing(typing));
    }
    let kind = Kind::parse_a3(&name).ok_or_else(|| {
        message.refuse(
            "type",
            "must be one of text, typein, typeout, video, audio, voice, photo, sticker, document, location",
        )
    })?;
    // For the log alone; read so that a wrong type is noticed.
    message.text_or_number("id", MAX_SHORT_TEXT_CHARS)?;
    let text = match kind.requires() {
        Requires::Text => Some(message.required_text("text", UNLIMITED_CHARS)?),
        Requires::File | Requires::Coordinates => message.text("text", UNLIMITED_CHARS)?,
    };
    let text = text.map(|text| cut(&text, limit));
    let media = if kind == Kind::Text { Media::default() } else { media(message, kind.requires())? };
    Ok(Message::Content(Box::new(Content { kind, text, media, rich: None })))
}

fn media(message: Fields<'_>, requires: Requires) -> Result<Media, Error> {
    let is_file = requires == Requires::File;
    let is_place = requires == Requires::Coordinates;
    let needs_name = is_file && !message.is_lenient();
    Ok(Media {
        file: if is_file { Some(message.required_url("file")?) } else { message.url("file")? },
        thumb: message.url("thumb")?,
        emoji: message.text("emoji", MAX_SHORT_TEXT_CHARS)?,
        file_size: if needs_name {
            Some(message.required_positive("file_size")?)
        } else {
            message.positive("file_size")?
        },
        file_name: if needs_name {
            Some(message.required_text("file_name", MAX_SHORT_TEXT_CHARS)?)
        } else {
            message.text("file_name", MAX_SHORT_TEXT_CHARS)?
        },
        duration: message.positive("duration")?,
        width: message.positive("width")?,
        height: message.positive("height")?,
        performer: message.text("performer", MAX_SHORT_TEXT_CHARS)?,
        title: message.text("title", MAX_SHORT_TEXT_CHARS)?,
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

/// The fields of a message: its type, its text and whatever else it has.
pub fn write(content: &Content) -> Map<String, Value> {
    let Content { kind, text, media, rich } = content;
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
    let fields = [
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
        ("buttons", rich.filter(|rich| !rich.buttons.is_empty()).map_or(Value::Null, |rich| buttons(&rich.buttons))),
        ("force_reply", json!(rich.filter(|rich| rich.force_reply).map(|_| true))),
    ];
    fields.into_iter().filter(|(_, value)| !value.is_null()).map(|(name, value)| (name.to_owned(), value)).collect()
}

/// A button's id with the type that it came with.
fn button_id(id: &ButtonId) -> Value {
    match id {
        ButtonId::Text(text) => json!(text),
        ButtonId::Number(digits) => digits.parse().map_or_else(|_| json!(digits), Value::Number),
    }
}

/// Prepared answers (B2).
fn buttons(buttons: &[Button]) -> Value {
    let one = |button: &Button| match &button.id {
        Some(id) => json!({ "text": button.text, "id": button_id(id) }),
        None => json!({ "text": button.text }),
    };
    buttons.iter().map(one).collect()
}
