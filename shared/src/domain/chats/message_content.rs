//! The content of a timeline entry: the types and fields of messages (specification, tables A3 and B2), and the kinds
//! of notifications.

use crate::domain::bots::bot::{BotNotification, CloseReason};
use crate::domain::calls::phone_call::Call;
use crate::domain::chats::bot_handover::HandoverDetails;
use crate::domain::chats::media::{Media, MediaMessage};
use crate::domain::deliveries::webhook_event::WebhookEvent;
use crate::domain::files::upload::UploadedFiles;
use crate::domain::named::named;
use crate::domain::timestamp::Timestamp;

named! {
    /// A typing notice (specification, table A3). It is never stored.
    pub enum TypingNotice as TypingChange {
        Start = "typein",
        End = "typeout",
    }
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

/// A bot's message that not every channel can display (specification, table B2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RichMessage {
    pub format: RichFormat,
    /// The text for channels that cannot display the format.
    pub text: Option<String>,
    /// Whether the visitor should press a button instead of writing a message.
    pub force_reply: bool,
    /// Whether the channel can display neither the message nor its fallback text. Such a message is stored so that
    /// agents see it, but the visitor does not get it.
    pub not_displayable: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RichFormat {
    /// The Markdown source, which can contain links, bold text and italic text.
    Markdown(String),
    Buttons {
        /// The text above the buttons.
        title: Option<String>,
        /// The buttons, at most three.
        buttons: Vec<Button>,
    },
}

/// The message formats that a channel can display besides plain text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RichSupport {
    pub markdown: bool,
    pub buttons: bool,
}

/// The content of an entry. When the `wire` module parses a message, it checks that all required fields are present.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    Text {
        text: String,
        /// Whether a bot asks the visitor to press a button instead of writing a message; see
        /// [`RichMessage::force_reply`].
        force_reply: bool,
        /// The id of the button that the visitor has pressed, whose label is the text.
        button_id: Option<ButtonId>,
    },
    Media(Box<MediaMessage>),
    Rich(RichMessage),
    /// An agent's private note. Only agents see it: it has no delivery, and no receiver gets its text.
    Note {
        text: String,
        /// The agents whom the note mentions.
        mentions: Vec<u64>,
    },
    /// What a bot told the agents when it handed over the chat. Only agents see it, like a note.
    Handover(Box<HandoverDetails>),
    /// A phone call. Its text is the visitor's phone number.
    Call(Box<Call>),
    /// What is left of a message that was deleted. The ids of its files are kept, so that an erasure finds files that
    /// could not be deleted.
    Deleted(Option<UploadedFiles>),
    /// A notification for a bot. It is not a message.
    BotNotification {
        notification: BotNotification,
        /// The visitor's phone number if the visitor has asked for a callback, or the name of the bot that the chat was
        /// given to.
        text: Option<String>,
        /// Who closed the chat. `None` for other notifications, and for those of an earlier version of the service.
        closed_by: Option<CloseReason>,
        /// When the business hours begin, if an agent is unavailable outside them.
        opens_at: Option<Timestamp>,
    },
    /// A notification for a webhook. It is not a message.
    Webhook(WebhookEvent),
}

impl Content {
    pub const TEXT: &str = "text";
    pub const MARKDOWN: &str = "markdown";
    pub const BUTTONS: &str = "buttons";
    pub const NOTE: &str = "note";
    pub const HANDOVER: &str = "handover";
    pub const CALL: &str = "call";
    pub const DELETED: &str = "deleted";

    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into(), force_reply: false, button_id: None }
    }

    /// Returns a note that mentions nobody.
    pub fn note(text: impl Into<String>) -> Self {
        Self::Note { text: text.into(), mentions: Vec::new() }
    }

    /// Returns the agents whom the note mentions.
    pub fn mentions(&self) -> &[u64] {
        if let Self::Note { mentions, .. } = self { mentions } else { &[] }
    }

    /// Returns a notification for a bot that has no further data.
    pub fn bot_notification(notification: BotNotification) -> Self {
        Self::BotNotification { notification, text: None, closed_by: None, opens_at: None }
    }

    /// Returns the `type` of a message, or the name of a notification, in the APIs and in stored items.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Text { .. } => Self::TEXT,
            Self::Media(message) => message.media_type.name(),
            Self::Rich(RichMessage { format: RichFormat::Markdown(_), .. }) => Self::MARKDOWN,
            Self::Rich(RichMessage { format: RichFormat::Buttons { .. }, .. }) => Self::BUTTONS,
            Self::Note { .. } => Self::NOTE,
            Self::Handover(_) => Self::HANDOVER,
            Self::Call(_) => Self::CALL,
            Self::Deleted(_) => Self::DELETED,
            Self::BotNotification { notification, .. } => notification.name(),
            Self::Webhook(event) => event.name(),
        }
    }

    /// Returns the text of the message, the caption of a file, the fallback text of Markdown and buttons, the summary
    /// of a handover, or the visitor's number in a call.
    pub fn own_text(&self) -> Option<&str> {
        match self {
            Self::Text { text, .. } | Self::Note { text, .. } => Some(text),
            Self::Media(message) => message.text.as_deref(),
            Self::Rich(message) => message.text.as_deref(),
            Self::Handover(details) => details.summary.as_deref(),
            Self::Call(call) => Some(&call.phone),
            Self::BotNotification { text, .. } => text.as_deref(),
            Self::Deleted(_) | Self::Webhook(_) => None,
        }
    }

    pub fn media(&self) -> Option<&Media> {
        if let Self::Media(message) = self { Some(&message.media) } else { None }
    }

    /// Returns the files of the message that are in the bucket.
    pub fn uploaded(&self) -> Option<&UploadedFiles> {
        if let Self::Media(message) = self { message.uploaded.as_ref() } else { None }
    }

    pub fn is_deleted(&self) -> bool {
        matches!(self, Self::Deleted(_))
    }

    pub fn call(&self) -> Option<&Call> {
        if let Self::Call(call) = self { Some(call) } else { None }
    }

    /// Returns who closed the chat, if the entry notifies a bot of this.
    pub fn closed_by(&self) -> Option<CloseReason> {
        if let Self::BotNotification { closed_by, .. } = self { *closed_by } else { None }
    }

    /// Returns when the business hours begin, if the notification says so.
    pub fn opens_at(&self) -> Option<Timestamp> {
        if let Self::BotNotification { opens_at, .. } = self { *opens_at } else { None }
    }

    pub fn handover(&self) -> Option<&HandoverDetails> {
        if let Self::Handover(details) = self { Some(details) } else { None }
    }

    fn rich(&self) -> Option<&RichMessage> {
        if let Self::Rich(message) = self { Some(message) } else { None }
    }

    /// Whether the entry is the notification of a visitor's request for a callback.
    pub fn is_callback_request(&self) -> bool {
        matches!(self, Self::BotNotification { notification: BotNotification::CallbackRequested, .. })
    }

    /// Whether the entry notifies a bot that an agent has given it the chat.
    pub fn is_chat_returned(&self) -> bool {
        matches!(self, Self::BotNotification { notification: BotNotification::ChatReturned, .. })
    }

    /// Whether the channel can display the message or its fallback text; see [`RichMessage::not_displayable`].
    pub fn is_displayable(&self) -> bool {
        self.rich().is_none_or(|rich| !rich.not_displayable)
    }

    /// Whether the visitor sees the message: it is displayable and was not deleted, and neither a private note, a call
    /// nor a notification.
    pub fn is_visible_to_visitor(&self) -> bool {
        match self {
            Self::Text { .. } | Self::Media(_) | Self::Rich(_) => self.is_displayable(),
            Self::Note { .. }
            | Self::Handover(_)
            | Self::Call(_)
            | Self::Deleted(_)
            | Self::BotNotification { .. }
            | Self::Webhook(_) => false,
        }
    }

    pub fn into_not_displayable(mut self) -> Self {
        if let Self::Rich(message) = &mut self {
            message.not_displayable = true;
        }
        self
    }

    /// Returns the message in a format that the channel can display (specification, table B2). This is the message
    /// itself, or its fallback text with the same `force_reply`. Returns `None` if the channel can display neither, and
    /// for a private note or a call, which no channel displays.
    pub fn converted_for(&self, rich_support: RichSupport) -> Option<Self> {
        match self {
            Self::Text { .. } | Self::Media(_) | Self::BotNotification { .. } | Self::Webhook(_) => Some(self.clone()),
            Self::Note { .. } | Self::Handover(_) | Self::Call(_) | Self::Deleted(_) => None,
            Self::Rich(RichMessage { format, text, force_reply, not_displayable: _ }) => {
                let is_supported = match format {
                    RichFormat::Markdown(_) => rich_support.markdown,
                    RichFormat::Buttons { .. } => rich_support.buttons,
                };
                let fallback =
                    |text: &String| Self::Text { text: text.clone(), force_reply: *force_reply, button_id: None };
                if is_supported { Some(self.clone()) } else { text.as_ref().map(fallback) }
            }
        }
    }

    /// Returns the message as plain text. A file is represented by its URL, and a location by its coordinates.
    pub fn to_plain_text(&self) -> String {
        let attached = self.media().and_then(Media::to_plain_text);
        [self.text_or_rich_text(), attached].into_iter().flatten().collect::<Vec<_>>().join("\n")
    }

    /// Returns at most `max_chars` characters of the message's text or, if there is none, of the file name. Returns an
    /// empty text if both are missing.
    pub fn preview(&self, max_chars: usize) -> String {
        let file_name = || self.media().and_then(|media| media.file_name.clone());
        truncate_chars(&self.text_or_rich_text().or_else(file_name).unwrap_or_default(), max_chars)
    }

    /// Returns the text of the message. For Markdown and buttons, this text is optional; if it is missing, returns the
    /// Markdown source, or the title and the labels of the buttons.
    fn text_or_rich_text(&self) -> Option<String> {
        let text = self.own_text().map(str::to_owned);
        text.or_else(|| self.rich().map(|rich| rich.format.to_plain_text()))
    }
}

impl RichFormat {
    /// Returns the Markdown source, or the title and the labels of the buttons.
    fn to_plain_text(&self) -> String {
        match self {
            Self::Markdown(content) => content.clone(),
            Self::Buttons { title, buttons } => {
                let buttons = buttons.iter().map(|button| format!("[{}]", button.text));
                title.iter().cloned().chain(buttons).collect::<Vec<_>>().join(" ")
            }
        }
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

    fn rich_message(format: RichFormat, text: Option<&str>) -> RichMessage {
        RichMessage { format, text: text.map(str::to_owned), force_reply: false, not_displayable: false }
    }

    fn buttons(title: Option<&str>) -> RichFormat {
        let button = |text: &str| Button { text: text.into(), id: None };
        RichFormat::Buttons { title: title.map(str::to_owned), buttons: vec![button("Today"), button("Never")] }
    }

    #[test]
    fn channel_gets_rich_message_fallback_or_nothing() {
        let rich = |text| Content::Rich(rich_message(buttons(None), text));
        let plain = RichSupport::default();
        let all = RichSupport { markdown: true, buttons: true };
        assert_eq!(rich(None).converted_for(all), Some(rich(None)));
        assert_eq!(rich(Some("1 or 2?")).converted_for(plain), Some(Content::text("1 or 2?")));
        assert_eq!(rich(None).converted_for(plain), None);
        assert_eq!(Content::text("hi").converted_for(plain), Some(Content::text("hi")));
        assert_eq!(Content::note("for us").converted_for(all), None, "a private note");
        let forced = RichMessage { force_reply: true, ..rich_message(buttons(None), Some("1 or 2?")) };
        let fallback = Content::Text { text: "1 or 2?".into(), force_reply: true, button_id: None };
        assert_eq!(Content::Rich(forced).converted_for(plain), Some(fallback));
    }

    #[test]
    fn rich_message_without_text_has_text_of_its_content() {
        let markdown = || RichFormat::Markdown("**Hi**".into());
        let table = [
            (rich_message(markdown(), None), "**Hi**"),
            (rich_message(markdown(), Some("Hi")), "Hi"),
            (rich_message(buttons(Some("Which day?")), None), "Which day? [Today] [Never]"),
            (rich_message(buttons(Some("Which day?")), Some("1 or 2?")), "1 or 2?"),
            (rich_message(buttons(None), None), "[Today] [Never]"),
        ];
        for (message, expected) in table {
            let content = Content::Rich(message);
            assert_eq!((content.to_plain_text().as_str(), content.preview(80).as_str()), (expected, expected));
        }
    }

    #[test]
    fn text_is_truncated_by_characters_not_bytes() {
        assert_eq!(truncate_chars("äöü€", 3), "äöü");
        assert_eq!(truncate_chars("ab", 3), "ab");
    }
}
