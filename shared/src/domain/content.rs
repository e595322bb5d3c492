//! What a message says: the types and fields of table A3.

/// The `type` of a message that is kept (A3); typing notices are [`Typing`].
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
    const ALL: [Self; 8] =
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
        }
    }

    /// The kind of that name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The fields it cannot be without.
    pub fn requires(self) -> Requires {
        match self {
            Self::Text => Requires::Text,
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

/// What a message says. Which fields are there is checked where it comes in (`wire`).
#[derive(Clone, Debug, PartialEq)]
pub struct Content {
    /// The message type.
    pub kind: Kind,
    /// The text, or the comment on a media message.
    pub text: Option<String>,
    /// The attachment; empty for a text.
    pub media: Media,
}

impl Content {
    /// A plain text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { kind: Kind::Text, text: Some(text.into()), media: Media::default() }
    }

    /// At most `limit` characters that stand for the message in a list of chats.
    pub fn preview(&self, limit: usize) -> String {
        let shown = self.text.as_deref().or(self.media.file_name.as_deref());
        cut(shown.unwrap_or_default(), limit)
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
        for kind in Kind::ALL {
            assert_eq!(Kind::parse(kind.name()), Some(kind));
        }
        assert_eq!(Kind::parse("typein"), None);
    }

    #[test]
    fn a_text_is_cut_by_characters_not_bytes() {
        assert_eq!(cut("äöü€", 3), "äöü");
        assert_eq!(cut("ab", 3), "ab");
    }
}
