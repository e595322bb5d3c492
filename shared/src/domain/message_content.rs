//! What a message says: the types and fields of tables A3 and B2.

use crate::domain::bot::BotNotice;
use crate::domain::webhook::WebhookEvent;

/// The `type` of a message that is kept (A3, B2); typing notices are [`Typing`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are the specification's own")]
pub enum Kind {
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
    /// Not a message: something happened that the bot is told too.
    BotNotice(BotNotice),
    /// Not a message: something happened that a webhook is told.
    Webhook(WebhookEvent),
}

/// Which fields a kind cannot be without (A3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requires {
    /// `text`.
    Text,
    /// `file`, `file_name` and `file_size`.
    File,
    /// `latitude` and `longitude`.
    Coordinates,
}

impl Kind {
    const A3: [Self; 8] =
        [Self::Text, Self::Video, Self::Audio, Self::Voice, Self::Photo, Self::Sticker, Self::Document, Self::Location];

    /// The wire and storage name.
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
            Self::BotNotice(notice) => notice.name(),
            Self::Webhook(event) => event.name(),
        }
    }

    /// The kind of A3 of that name: what visitors and agents write.
    pub fn parse_a3(name: &str) -> Option<Self> {
        Self::A3.into_iter().find(|kind| kind.name() == name)
    }

    /// The kind of that name.
    pub fn parse(name: &str) -> Option<Self> {
        let rich = [Self::Markdown, Self::Buttons].into_iter().find(|kind| kind.name() == name);
        let notice = || BotNotice::parse(name).map(Self::BotNotice);
        Self::parse_a3(name).or(rich).or_else(notice).or_else(|| WebhookEvent::parse(name).map(Self::Webhook))
    }

    /// The fields it cannot be without.
    pub fn requires(self) -> Requires {
        match self {
            Self::Text | Self::Markdown | Self::Buttons | Self::BotNotice(_) | Self::Webhook(_) => Requires::Text,
            Self::Location => Requires::Coordinates,
            Self::Video | Self::Audio | Self::Voice | Self::Photo | Self::Sticker | Self::Document => Requires::File,
        }
    }
}

/// Start or end of composing (A3). Never stored as a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Typing {
    /// typein
    Start,
    /// typeout
    End,
}

impl Typing {
    /// The wire name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Start => "typein",
            Self::End => "typeout",
        }
    }

    /// The notice of that name.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Start, Self::End].into_iter().find(|typing| typing.name() == name)
    }
}

/// What is attached to a message: a file or a place. Units: bytes, seconds, pixels, degrees.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs, reason = "the names are the specification's own")]
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

/// A prepared answer (B2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Button {
    /// What it shows, and what the client says by pressing it.
    pub text: String,
    /// The provider's own identifier.
    pub id: Option<ButtonId>,
}

/// An identifier of a button, of the type that it came with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ButtonId {
    /// A string.
    Text(String),
    /// A number, as JSON writes it.
    Number(String),
}

/// What a bot's message has beyond text (B2).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rich {
    /// Markdown: link, bold, italic.
    pub content: Option<String>,
    /// The title over the buttons.
    pub title: Option<String>,
    /// At most three.
    pub buttons: Vec<Button>,
    /// Whether the client should answer with a button.
    pub force_reply: bool,
    /// The channel could show neither the message nor a fallback: it was kept for the agents and sent nowhere.
    pub not_shown: bool,
}

/// What a channel can show besides plain text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shows {
    /// MARKDOWN.
    pub markdown: bool,
    /// BUTTONS.
    pub buttons: bool,
}

/// What a message says. Which fields are there is checked where it comes in (`wire`).
#[derive(Clone, Debug, PartialEq)]
pub struct Content {
    /// The message type.
    pub kind: Kind,
    /// The text, or the comment on a media message.
    pub text: Option<String>,
    /// The attachment; empty for a text.
    pub media: Media,
    /// What a bot's message has beyond that.
    pub rich: Option<Box<Rich>>,
}

impl Content {
    /// A plain text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { kind: Kind::Text, text: Some(text.into()), media: Media::default(), rich: None }
    }

    /// Something that happened: a kind that is no message.
    pub fn happened(kind: Kind) -> Self {
        Self { kind, text: None, media: Media::default(), rich: None }
    }

    /// Whether the visitor gets the message; see [`Rich::not_shown`].
    pub fn is_shown(&self) -> bool {
        self.rich.as_deref().is_none_or(|rich| !rich.not_shown)
    }

    /// The message, marked as one that the visitor does not get.
    pub fn not_shown(self) -> Self {
        let rich = Rich { not_shown: true, ..self.rich.map(|rich| *rich).unwrap_or_default() };
        Self { rich: Some(Box::new(rich)), ..self }
    }

    /// The message as a channel can show it: itself, its plain text, or not at all (specification, B2). The plain text
    /// keeps `force_reply`.
    pub fn shown_on(&self, shows: Shows) -> Option<Self> {
        let can = match self.kind {
            Kind::Markdown => shows.markdown,
            Kind::Buttons => shows.buttons,
            Kind::Text
            | Kind::Video
            | Kind::Audio
            | Kind::Voice
            | Kind::Photo
            | Kind::Sticker
            | Kind::Document
            | Kind::Location
            | Kind::BotNotice(_)
            | Kind::Webhook(_) => true,
        };
        if can {
            return Some(self.clone());
        }
        let force_reply = self.rich.as_deref().is_some_and(|rich| rich.force_reply);
        let rich = force_reply.then(|| Box::new(Rich { force_reply, ..Rich::default() }));
        self.text.as_deref().map(|text| Self { rich, ..Self::text(text) })
    }

    /// The message in plain text, for a bot that knows no files and no places, and for logs.
    pub fn in_plain_text(&self) -> String {
        let place = self.media.latitude.zip(self.media.longitude).map(|(north, east)| format!("{north},{east}"));
        let attached = self.media.file.clone().or(place);
        [self.said(), attached].into_iter().flatten().collect::<Vec<_>>().join("\n")
    }

    /// At most `limit` characters that stand for the message in a list of chats.
    pub fn preview(&self, limit: usize) -> String {
        let shown = self.said().or_else(|| self.media.file_name.clone());
        cut(&shown.unwrap_or_default(), limit)
    }

    /// The text, or what is shown in its place: a rich message needs none.
    fn said(&self) -> Option<String> {
        let rich = || self.rich.as_deref().map(Rich::in_plain_text).filter(|text| !text.is_empty());
        self.text.clone().or_else(rich)
    }
}

impl Rich {
    /// The Markdown as it is written, or the title and the buttons.
    fn in_plain_text(&self) -> String {
        let Self { content, title, buttons, force_reply: _, not_shown: _ } = self;
        let written = [content, title].into_iter().flatten().cloned();
        let buttons = buttons.iter().map(|button| format!("[{}]", button.text));
        written.chain(buttons).collect::<Vec<_>>().join(" ")
    }
}

/// The first `limit` Unicode scalar values of a text (specification, Limits).
pub fn cut(text: &str, limit: usize) -> String {
    text.chars().take(limit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_kinds_are_a_bijection() {
        for kind in Kind::A3 {
            assert_eq!(Kind::parse(kind.name()), Some(kind));
        }
        assert_eq!(Kind::parse("typein"), None);
        assert_eq!((Kind::parse("buttons"), Kind::parse_a3("buttons")), (Some(Kind::Buttons), None));
    }

    #[test]
    fn a_channel_gets_the_rich_message_its_fallback_or_nothing() {
        let rich =
            |text: Option<&str>| Content { kind: Kind::Buttons, text: text.map(str::to_owned), ..Content::text("") };
        let plain = Shows::default();
        let all = Shows { markdown: true, buttons: true };
        assert_eq!(rich(None).shown_on(all), Some(rich(None)));
        assert_eq!(rich(Some("1 or 2?")).shown_on(plain), Some(Content::text("1 or 2?")));
        assert_eq!(rich(None).shown_on(plain), None);
        assert_eq!(Content::text("hi").shown_on(plain), Some(Content::text("hi")));
        let forced = || Some(Box::new(Rich { force_reply: true, ..Rich::default() }));
        let fallback = Content { rich: forced(), ..rich(Some("1 or 2?")) }.shown_on(plain);
        assert_eq!(fallback, Some(Content { rich: forced(), ..Content::text("1 or 2?") }));
    }

    #[test]
    fn a_rich_message_without_a_fallback_is_told_by_what_it_shows() {
        let rich = |kind, text: Option<&str>, rich| Content {
            kind,
            text: text.map(str::to_owned),
            rich: Some(Box::new(rich)),
            ..Content::text("")
        };
        let markdown = || Rich { content: Some("**Hi**".into()), ..Rich::default() };
        let button = |text: &str| Button { text: text.into(), id: None };
        let buttons = || Rich {
            title: Some("Which day?".into()),
            buttons: vec![button("Today"), button("Never")],
            ..Rich::default()
        };
        let table = [
            (rich(Kind::Markdown, None, markdown()), "**Hi**"),
            (rich(Kind::Markdown, Some("Hi"), markdown()), "Hi"),
            (rich(Kind::Buttons, None, buttons()), "Which day? [Today] [Never]"),
            (rich(Kind::Buttons, Some("1 or 2?"), buttons()), "1 or 2?"),
            (rich(Kind::Buttons, None, Rich { title: None, ..buttons() }), "[Today] [Never]"),
            (rich(Kind::Markdown, None, Rich::default()), ""),
        ];
        for (content, expected) in table {
            assert_eq!((content.in_plain_text().as_str(), content.preview(80).as_str()), (expected, expected));
        }
    }

    #[test]
    fn a_text_is_cut_by_characters_not_bytes() {
        assert_eq!(cut("äöü€", 3), "äöü");
        assert_eq!(cut("ab", 3), "ab");
    }
}
