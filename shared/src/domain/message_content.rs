//! The content of a timeline entry: the types and fields of messages (specification, tables A3 and B2), and the kinds
//! of notifications.

use crate::domain::bot::BotNotification;
use crate::domain::named::named;
use crate::domain::phone_call::Call;
use crate::domain::webhook_event::WebhookEvent;

/// The `type` of a stored message, or the kind of a notification. Typing notices are not stored; see [`TypingNotice`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentKind {
    Text,
    Video,
    Audio,
    Voice,
    Photo,
    Sticker,
    Document,
    Location,
    Markdown,
    Buttons,
    /// An agent's private note. Only agents see it: it has no delivery, and no receiver gets its text.
    Note,
    /// A phone call. Its text is the visitor's phone number.
    Call,
    /// A notification for a bot. It is not a message.
    BotNotification(BotNotification),
    /// A notification for a webhook. It is not a message.
    Webhook(WebhookEvent),
}

/// The fields that a message type requires (specification, table A3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequiredFields {
    Text,
    /// The message requires `file`, `file_name` and `file_size`.
    File,
    /// The message requires `latitude` and `longitude`.
    Coordinates,
}

impl ContentKind {
    /// The message types of the channel API (specification, table A3).
    const CHANNEL_API_CONTENT_KINDS: [Self; 8] =
        [Self::Text, Self::Video, Self::Audio, Self::Voice, Self::Photo, Self::Sticker, Self::Document, Self::Location];

    /// Returns the name of this value in the APIs and in stored items.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Video => "video",
            Self::Audio => "audio",
            Self::Voice => "voice",
            Self::Photo => "photo",
            Self::Sticker => "sticker",
            Self::Document => "document",
            Self::Location => "location",
            Self::Markdown => "markdown",
            Self::Buttons => "buttons",
            Self::Note => "note",
            Self::Call => "call",
            Self::BotNotification(notice) => notice.name(),
            Self::Webhook(event) => event.name(),
        }
    }

    /// Parses a message type that visitors and agents can send.
    pub fn parse_channel_api_kind(name: &str) -> Option<Self> {
        Self::CHANNEL_API_CONTENT_KINDS.into_iter().find(|kind| kind.name() == name)
    }

    pub fn parse(name: &str) -> Option<Self> {
        let other =
            [Self::Markdown, Self::Buttons, Self::Note, Self::Call].into_iter().find(|kind| kind.name() == name);
        let notice = || BotNotification::parse(name).map(Self::BotNotification);
        Self::parse_channel_api_kind(name)
            .or(other)
            .or_else(notice)
            .or_else(|| WebhookEvent::parse(name).map(Self::Webhook))
    }

    pub fn required_fields(self) -> RequiredFields {
        match self {
            Self::Text
            | Self::Markdown
            | Self::Buttons
            | Self::Note
            | Self::Call
            | Self::BotNotification(_)
            | Self::Webhook(_) => RequiredFields::Text,
            Self::Location => RequiredFields::Coordinates,
            Self::Video | Self::Audio | Self::Voice | Self::Photo | Self::Sticker | Self::Document => {
                RequiredFields::File
            }
        }
    }
}

named! {
    /// A typing notice (specification, table A3). It is never stored.
    pub enum TypingNotice {
        Start = "typein",
        End = "typeout",
    }
}

/// The file or location in a message. Sizes are in bytes, durations in seconds, dimensions in pixels and coordinates in
/// degrees.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Media {
    pub file: Option<String>,
    pub thumb: Option<String>,
    pub emoji: Option<String>,
    pub file_size: Option<u64>,
    pub file_name: Option<String>,
    pub duration: Option<u64>,
    pub width: Option<u64>,
    pub height: Option<u64>,
    pub performer: Option<String>,
    pub title: Option<String>,
    pub latitude: Option<f64>,
    pub longitude: Option<f64>,
}

/// A button that the visitor can press instead of writing a message (specification, table B2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Button {
    /// The label of the button. If the visitor presses the button, the label is sent as the visitor's message.
    pub text: String,
    /// An id that the bot provider chooses.
    pub id: Option<ButtonId>,
}

/// The id of a button. Its JSON type is preserved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ButtonId {
    Text(String),
    /// A number, as written in JSON.
    Number(String),
}

/// The Markdown or the buttons of a bot's message (specification, table B2).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RichContent {
    /// The Markdown source, which can contain links, bold text and italic text.
    pub content: Option<String>,
    /// The text above the buttons.
    pub title: Option<String>,
    /// The buttons, at most three.
    pub buttons: Vec<Button>,
    /// Whether the visitor should press a button instead of writing a message.
    pub force_reply: bool,
    /// Whether the channel can display neither the message nor its fallback text. Such a message is stored so that
    /// agents see it, but the visitor does not get it.
    pub not_displayable: bool,
}

/// The message formats that a channel can display besides plain text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RichSupport {
    pub markdown: bool,
    pub buttons: bool,
}

/// The content of an entry. When the `wire` module parses a message, it checks that all required fields are present.
#[derive(Clone, Debug, PartialEq)]
pub struct Content {
    pub kind: ContentKind,
    /// The text of the message, the caption of a file, or the visitor's number in a call. For Markdown and buttons,
    /// this is the optional fallback text.
    pub text: Option<String>,
    pub media: Media,
    pub rich: Option<Box<RichContent>>,
    pub call: Option<Box<Call>>,
}

impl Content {
    pub fn text(text: impl Into<String>) -> Self {
        Self { kind: ContentKind::Text, text: Some(text.into()), media: Media::default(), rich: None, call: None }
    }

    pub fn note(text: impl Into<String>) -> Self {
        Self { kind: ContentKind::Note, ..Self::text(text) }
    }

    pub fn without_text(kind: ContentKind) -> Self {
        Self { kind, text: None, media: Media::default(), rich: None, call: None }
    }

    pub fn call(call: Call) -> Self {
        Self { kind: ContentKind::Call, call: Some(Box::new(call.clone())), ..Self::text(call.phone) }
    }

    /// Whether the channel can display the message or its fallback text; see [`RichContent::not_displayable`].
    pub fn is_displayable(&self) -> bool {
        self.rich.as_deref().is_none_or(|rich| !rich.not_displayable)
    }

    /// Whether the visitor sees the message: it is displayable, and neither a private note, a call nor a notification.
    pub fn is_visible_to_visitor(&self) -> bool {
        let is_message = match self.kind {
            ContentKind::Note | ContentKind::Call | ContentKind::BotNotification(_) | ContentKind::Webhook(_) => false,
            ContentKind::Text
            | ContentKind::Video
            | ContentKind::Audio
            | ContentKind::Voice
            | ContentKind::Photo
            | ContentKind::Sticker
            | ContentKind::Document
            | ContentKind::Location
            | ContentKind::Markdown
            | ContentKind::Buttons => true,
        };
        is_message && self.is_displayable()
    }

    pub fn into_not_displayable(self) -> Self {
        let rich = RichContent { not_displayable: true, ..self.rich.map(|rich| *rich).unwrap_or_default() };
        Self { rich: Some(Box::new(rich)), ..self }
    }

    /// Returns the message in a format that the channel can display (specification, table B2). This is the message
    /// itself, or its fallback text with the same `force_reply`. Returns `None` if the channel can display neither, and
    /// for a private note or a call, which no channel displays.
    pub fn converted_for(&self, rich_support: RichSupport) -> Option<Self> {
        let is_supported = match self.kind {
            ContentKind::Markdown => rich_support.markdown,
            ContentKind::Buttons => rich_support.buttons,
            ContentKind::Note | ContentKind::Call => return None,
            ContentKind::Text
            | ContentKind::Video
            | ContentKind::Audio
            | ContentKind::Voice
            | ContentKind::Photo
            | ContentKind::Sticker
            | ContentKind::Document
            | ContentKind::Location
            | ContentKind::BotNotification(_)
            | ContentKind::Webhook(_) => true,
        };
        if is_supported {
            return Some(self.clone());
        }
        let force_reply = self.rich.as_deref().is_some_and(|rich| rich.force_reply);
        let rich = force_reply.then(|| Box::new(RichContent { force_reply, ..RichContent::default() }));
        self.text.as_deref().map(|text| Self { rich, ..Self::text(text) })
    }

    /// Returns the message as plain text. A file is represented by its URL, and a location by its coordinates.
    pub fn to_plain_text(&self) -> String {
        let location = self
            .media
            .latitude
            .zip(self.media.longitude)
            .map(|(latitude, longitude)| format!("{latitude},{longitude}"));
        let attached = self.media.file.clone().or(location);
        [self.text_or_rich_text(), attached].into_iter().flatten().collect::<Vec<_>>().join("\n")
    }

    /// Returns at most `max_chars` characters of the message's text or, if there is none, of the file name. Returns an
    /// empty text if both are missing.
    pub fn preview(&self, max_chars: usize) -> String {
        let text = self.text_or_rich_text().or_else(|| self.media.file_name.clone());
        truncate_chars(&text.unwrap_or_default(), max_chars)
    }

    /// Returns the text of the message. For Markdown and buttons, this text is optional; if it is missing, returns the
    /// Markdown source, or the title and the labels of the buttons. Returns `None` if all of them are missing.
    fn text_or_rich_text(&self) -> Option<String> {
        let rich = || self.rich.as_deref().map(RichContent::to_plain_text).filter(|text| !text.is_empty());
        self.text.clone().or_else(rich)
    }
}

impl RichContent {
    /// Returns the Markdown source, or the title and the labels of the buttons.
    fn to_plain_text(&self) -> String {
        let Self { content, title, buttons, force_reply: _, not_displayable: _ } = self;
        let texts = [content, title].into_iter().flatten().cloned();
        let buttons = buttons.iter().map(|button| format!("[{}]", button.text));
        texts.chain(buttons).collect::<Vec<_>>().join(" ")
    }
}

/// Returns the first `max_chars` characters (Unicode scalar values) of a text (specification, Limits).
pub fn truncate_chars(text: &str, max_chars: usize) -> String {
    text.chars().take(max_chars).collect()
}

/// Returns the beginning of a text, cut between two characters.
pub fn truncate_bytes(text: &str, max_bytes: usize) -> &str {
    text.get(..text.floor_char_boundary(max_bytes)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kind_names_round_trip() {
        for kind in ContentKind::CHANNEL_API_CONTENT_KINDS {
            assert_eq!(ContentKind::parse(kind.name()), Some(kind));
        }
        assert_eq!(ContentKind::parse("typein"), None);
        assert_eq!(
            (ContentKind::parse("note"), ContentKind::parse_channel_api_kind("note")),
            (Some(ContentKind::Note), None)
        );
        assert_eq!(
            (ContentKind::parse("buttons"), ContentKind::parse_channel_api_kind("buttons")),
            (Some(ContentKind::Buttons), None)
        );
    }

    #[test]
    fn channel_gets_rich_message_fallback_or_nothing() {
        let rich = |text: Option<&str>| Content {
            kind: ContentKind::Buttons,
            text: text.map(str::to_owned),
            ..Content::text("")
        };
        let plain = RichSupport::default();
        let all = RichSupport { markdown: true, buttons: true };
        assert_eq!(rich(None).converted_for(all), Some(rich(None)));
        assert_eq!(rich(Some("1 or 2?")).converted_for(plain), Some(Content::text("1 or 2?")));
        assert_eq!(rich(None).converted_for(plain), None);
        assert_eq!(Content::text("hi").converted_for(plain), Some(Content::text("hi")));
        assert_eq!(Content::note("for us").converted_for(all), None, "a private note");
        let with_force_reply = || Some(Box::new(RichContent { force_reply: true, ..RichContent::default() }));
        let fallback = Content { rich: with_force_reply(), ..rich(Some("1 or 2?")) }.converted_for(plain);
        assert_eq!(fallback, Some(Content { rich: with_force_reply(), ..Content::text("1 or 2?") }));
    }

    #[test]
    fn rich_message_without_text_has_text_of_its_content() {
        let rich = |kind, text: Option<&str>, rich| Content {
            kind,
            text: text.map(str::to_owned),
            rich: Some(Box::new(rich)),
            ..Content::text("")
        };
        let markdown = || RichContent { content: Some("**Hi**".into()), ..RichContent::default() };
        let button = |text: &str| Button { text: text.into(), id: None };
        let buttons = || RichContent {
            title: Some("Which day?".into()),
            buttons: vec![button("Today"), button("Never")],
            ..RichContent::default()
        };
        let table = [
            (rich(ContentKind::Markdown, None, markdown()), "**Hi**"),
            (rich(ContentKind::Markdown, Some("Hi"), markdown()), "Hi"),
            (rich(ContentKind::Buttons, None, buttons()), "Which day? [Today] [Never]"),
            (rich(ContentKind::Buttons, Some("1 or 2?"), buttons()), "1 or 2?"),
            (rich(ContentKind::Buttons, None, RichContent { title: None, ..buttons() }), "[Today] [Never]"),
            (rich(ContentKind::Markdown, None, RichContent::default()), ""),
        ];
        for (content, expected) in table {
            assert_eq!((content.to_plain_text().as_str(), content.preview(80).as_str()), (expected, expected));
        }
    }

    #[test]
    fn text_is_truncated_by_characters_not_bytes() {
        assert_eq!(truncate_chars("äöü€", 3), "äöü");
        assert_eq!(truncate_chars("ab", 3), "ab");
    }
}
