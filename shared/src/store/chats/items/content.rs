//! The stored form of an entry's content: an attribute of the entry's item in the Chats table.

use serde::{Deserialize, Serialize};

use crate::domain::message_content::{Button, ButtonId, Content, ContentKind, Media, RichContent};
use crate::domain::phone_call::Call;
use crate::error::Error;
use crate::store::chats::items::call::CallItem;
use crate::store::chats::items::unknown_value;

#[derive(Serialize, Deserialize, Default)]
#[serde(default)]
pub(in crate::store) struct ContentItem {
    kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thumb: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    emoji: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    duration: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    width: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    height: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    performer: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    latitude: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    longitude: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rich: Option<Box<RichContentItem>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<Box<CallItem>>,
}

impl From<&Content> for ContentItem {
    fn from(content: &Content) -> Self {
        let Content { kind, text, media, rich, call } = content.clone();
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
        Self {
            kind: kind.name().to_owned(),
            text,
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
            rich: rich.map(|rich| Box::new(RichContentItem::from(*rich))),
            call: call.map(|call| Box::new(CallItem::from(*call))),
        }
    }
}

impl TryFrom<ContentItem> for Content {
    type Error = Error;

    fn try_from(item: ContentItem) -> Result<Self, Error> {
        Ok(Self {
            kind: ContentKind::parse(&item.kind).ok_or_else(unknown_value("kind"))?,
            text: item.text,
            media: Media {
                file: item.file,
                thumb: item.thumb,
                emoji: item.emoji,
                file_size: item.file_size,
                file_name: item.file_name,
                duration: item.duration,
                width: item.width,
                height: item.height,
                performer: item.performer,
                title: item.title,
                latitude: item.latitude,
                longitude: item.longitude,
            },
            rich: item.rich.map(|rich| Box::new(RichContent::from(*rich))),
            call: item.call.map(|call| Call::try_from(*call).map(Box::new)).transpose()?,
        })
    }
}

#[derive(Serialize, Deserialize)]
pub(in crate::store) struct RichContentItem {
    content: Option<String>,
    title: Option<String>,
    buttons: Vec<ButtonItem>,
    force_reply: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    not_displayable: bool,
}

impl From<RichContent> for RichContentItem {
    fn from(rich: RichContent) -> Self {
        let RichContent { content, title, buttons, force_reply, not_displayable } = rich;
        Self {
            content,
            title,
            buttons: buttons.into_iter().map(ButtonItem::from).collect(),
            force_reply,
            not_displayable,
        }
    }
}

impl From<RichContentItem> for RichContent {
    fn from(item: RichContentItem) -> Self {
        let RichContentItem { content, title, buttons, force_reply, not_displayable } = item;
        Self { content, title, buttons: buttons.into_iter().map(Button::from).collect(), force_reply, not_displayable }
    }
}

#[derive(Serialize, Deserialize)]
pub(in crate::store) struct ButtonItem {
    text: String,
    id: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    has_numeric_id: bool,
}

impl From<Button> for ButtonItem {
    fn from(Button { text, id }: Button) -> Self {
        let has_numeric_id = matches!(id, Some(ButtonId::Number(_)));
        let id = id.map(|(ButtonId::Text(id) | ButtonId::Number(id))| id);
        Self { text, id, has_numeric_id }
    }
}

impl From<ButtonItem> for Button {
    fn from(ButtonItem { text, id, has_numeric_id }: ButtonItem) -> Self {
        Self { text, id: id.map(if has_numeric_id { ButtonId::Number } else { ButtonId::Text }) }
    }
}
