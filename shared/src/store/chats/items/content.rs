//! The stored form of an entry's content: an attribute of the entry's item in the Chats table.

use std::fmt;

use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::domain::bots::bot::{BotNotification, CloseReason};
use crate::domain::calls::phone_call::Call;
use crate::domain::chats::bot_handover::{HandoverDetails, HandoverPriority, HandoverReason};
use crate::domain::chats::media::{Media, MediaField, MediaMessage, MediaType};
use crate::domain::chats::message_content::{Button, ButtonId, Content, RichFormat, RichMessage};
use crate::domain::deliveries::webhook_event::WebhookEvent;
use crate::domain::files::upload::UploadedFiles;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::store::chats::items::call::CallItem;
use crate::store::chats::items::unknown_value;
use crate::store::table::Item;

#[derive(Serialize, Deserialize, Default)]
#[serde(default)]
pub(crate) struct ContentItem {
    kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(flatten)]
    media: MediaItem,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thumb_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rich: Option<Box<RichContentItem>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<Box<CallItem>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    handover: Option<Box<HandoverDetailsItem>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    closed_by: Option<String>,
    /// Unix time in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    opens_at: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    button_id: Option<ButtonIdItem>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    mentions: Vec<u64>,
}

/// Returns the ids of the uploaded files in a stored entry. Works without reading the whole entry, so that a file is
/// deleted even if the entry cannot be read.
pub(in crate::store) fn file_ids(item: &Item) -> Vec<String> {
    let content = item.get("content").and_then(|content| content.as_m().ok());
    let id = |name: &str| Some(content?.get(name)?.as_s().ok()?.clone());
    ["file_id", "thumb_id"].into_iter().filter_map(id).collect()
}

impl From<&Content> for ContentItem {
    fn from(content: &Content) -> Self {
        let mut item =
            Self { kind: content.name().to_owned(), text: content.own_text().map(str::to_owned), ..Self::default() };
        match content {
            Content::Text { text: _, force_reply, button_id } => {
                if *force_reply {
                    item.rich = Some(Box::new(RichContentItem { force_reply: true, ..RichContentItem::default() }));
                }
                item.button_id = button_id.clone().map(ButtonIdItem::from);
            }
            Content::Media(message) => {
                item.media = MediaItem(message.media.clone());
                item.file_id = message.uploaded.as_ref().map(|uploaded| uploaded.file_id.clone());
                item.thumb_id = message.uploaded.as_ref().and_then(|uploaded| uploaded.thumb_id.clone());
            }
            Content::Rich(message) => item.rich = Some(Box::new(RichContentItem::from(message.clone()))),
            Content::Call(call) => item.call = Some(Box::new(CallItem::from((**call).clone()))),
            Content::Handover(details) => item.handover = Some(Box::new(HandoverDetailsItem::from(&**details))),
            Content::BotNotification { closed_by, opens_at, .. } => {
                item.opens_at = opens_at.map(|at| at.0);
                item.closed_by = closed_by.map(|reason| reason.name().to_owned());
            }
            Content::Note { text: _, mentions } => item.mentions.clone_from(mentions),
            Content::Deleted(files) => {
                item.file_id = files.as_ref().map(|files| files.file_id.clone());
                item.thumb_id = files.as_ref().and_then(|files| files.thumb_id.clone());
            }
            Content::Webhook(_) => {}
        }
        item
    }
}

impl TryFrom<ContentItem> for Content {
    type Error = Error;

    fn try_from(
        ContentItem {
            kind,
            text,
            media,
            file_id,
            thumb_id,
            rich,
            call,
            handover,
            closed_by,
            opens_at,
            button_id,
            mentions,
        }: ContentItem,
    ) -> Result<Self, Error> {
        let mut rich = rich.map(|rich| *rich).unwrap_or_default();
        Ok(match kind.as_str() {
            Self::TEXT => Self::Text {
                text: text.unwrap_or_default(),
                force_reply: rich.force_reply,
                button_id: button_id.map(ButtonId::from),
            },
            Self::MARKDOWN => {
                let format = RichFormat::Markdown(rich.content.take().unwrap_or_default());
                Self::Rich(rich.message(format, text))
            }
            Self::BUTTONS => {
                let buttons = rich.buttons.drain(..).map(Button::from).collect();
                let format = RichFormat::Buttons { title: rich.title.take(), buttons };
                Self::Rich(rich.message(format, text))
            }
            Self::NOTE => Self::Note { text: text.unwrap_or_default(), mentions },
            Self::HANDOVER => Self::Handover(Box::new(handover.map(|item| *item).unwrap_or_default().details(text))),
            Self::CALL => Self::Call(Box::new(Call::try_from(*call.ok_or_else(unknown_value("call"))?)?)),
            Self::DELETED => Self::Deleted(file_id.map(|file_id| UploadedFiles { file_id, thumb_id })),
            kind => {
                let media_type = MediaType::parse(kind);
                let uploaded = file_id.map(|file_id| UploadedFiles { file_id, thumb_id });
                let media = media_type.map(|media_type| MediaMessage {
                    media_type,
                    text: text.clone(),
                    media: media.0,
                    uploaded,
                });
                let notification = BotNotification::parse(kind);
                let closed_by = closed_by.as_deref().and_then(CloseReason::parse);
                let opens_at = opens_at.map(Timestamp);
                let notification =
                    notification.map(|notification| Self::BotNotification { notification, text, closed_by, opens_at });
                media
                    .map(|message| Self::Media(Box::new(message)))
                    .or(notification)
                    .or_else(|| WebhookEvent::parse(kind).map(Self::Webhook))
                    .ok_or_else(unknown_value("kind"))?
            }
        })
    }
}

/// What a bot told the agents, without the summary, which is the content's text.
#[derive(Serialize, Deserialize, Default)]
#[serde(default)]
pub(crate) struct HandoverDetailsItem {
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    priority: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<String>,
}

impl HandoverDetailsItem {
    fn details(self, summary: Option<String>) -> HandoverDetails {
        let Self { reason, priority, data } = self;
        let reason = reason.as_deref().and_then(HandoverReason::parse);
        let priority = priority.as_deref().and_then(HandoverPriority::parse);
        HandoverDetails { reason, priority, summary, data }
    }
}

impl From<&HandoverDetails> for HandoverDetailsItem {
    fn from(HandoverDetails { reason, priority, summary: _, data }: &HandoverDetails) -> Self {
        Self {
            reason: reason.map(|reason| reason.name().to_owned()),
            priority: priority.map(|priority| priority.name().to_owned()),
            data: data.clone(),
        }
    }
}

/// The fields of a file or place, as attributes of the content.
#[derive(Default)]
struct MediaItem(Media);

impl Serialize for MediaItem {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, field) in self.0.clone().fields_mut() {
            match field {
                MediaField::Url(Some(text)) | MediaField::Text(Some(text)) => map.serialize_entry(name, text)?,
                MediaField::Count(Some(number)) => map.serialize_entry(name, number)?,
                MediaField::Latitude(Some(degrees)) | MediaField::Longitude(Some(degrees)) => {
                    map.serialize_entry(name, degrees)?;
                }
                MediaField::Url(None)
                | MediaField::Text(None)
                | MediaField::Count(None)
                | MediaField::Latitude(None)
                | MediaField::Longitude(None) => {}
            }
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for MediaItem {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MediaItemVisitor)
    }
}

struct MediaItemVisitor;

impl<'de> Visitor<'de> for MediaItemVisitor {
    type Value = MediaItem;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the fields of a file or place")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<MediaItem, A::Error> {
        let mut media = Media::default();
        while let Some(key) = map.next_key::<String>()? {
            match media.fields_mut().into_iter().find(|(name, _)| *name == key) {
                Some((_, MediaField::Url(text) | MediaField::Text(text))) => *text = map.next_value()?,
                Some((_, MediaField::Count(number))) => *number = map.next_value()?,
                Some((_, MediaField::Latitude(degrees) | MediaField::Longitude(degrees))) => {
                    *degrees = map.next_value()?;
                }
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(MediaItem(media))
    }
}

#[derive(Serialize, Deserialize, Default)]
pub(crate) struct RichContentItem {
    content: Option<String>,
    title: Option<String>,
    buttons: Vec<ButtonItem>,
    force_reply: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    not_displayable: bool,
}

impl RichContentItem {
    fn message(&self, format: RichFormat, text: Option<String>) -> RichMessage {
        RichMessage { format, text, force_reply: self.force_reply, not_displayable: self.not_displayable }
    }
}

impl From<RichMessage> for RichContentItem {
    fn from(RichMessage { format, text: _, force_reply, not_displayable }: RichMessage) -> Self {
        let (content, title, buttons) = match format {
            RichFormat::Markdown(content) => (Some(content), None, Vec::new()),
            RichFormat::Buttons { title, buttons } => (None, title, buttons),
        };
        let buttons = buttons.into_iter().map(ButtonItem::from).collect();
        Self { content, title, buttons, force_reply, not_displayable }
    }
}

#[derive(Serialize, Deserialize)]
pub(crate) struct ButtonItem {
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

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ButtonIdItem {
    Text(String),
    Number(String),
}

impl From<ButtonId> for ButtonIdItem {
    fn from(id: ButtonId) -> Self {
        match id {
            ButtonId::Text(id) => Self::Text(id),
            ButtonId::Number(digits) => Self::Number(digits),
        }
    }
}

impl From<ButtonIdItem> for ButtonId {
    fn from(id: ButtonIdItem) -> Self {
        match id {
            ButtonIdItem::Text(id) => Self::Text(id),
            ButtonIdItem::Number(digits) => Self::Number(digits),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::{Value, json};

    use super::*;

    /// Contents as the first version of the service stored them, except for their order.
    #[test]
    fn stored_contents_stay_readable_and_unchanged() {
        let rich = |content: Value, title: Value, buttons: Value, force_reply: bool| json!({ "content": content, "title": title, "buttons": buttons, "force_reply": force_reply });
        let buttons = json!([
            { "text": "1", "id": "7", "has_numeric_id": true },
            { "text": "2", "id": null },
        ]);
        let mut not_displayable = rich(Value::Null, json!("T"), buttons, true);
        not_displayable["not_displayable"] = json!(true);
        let stored = [
            json!({ "kind": "text", "text": "hi" }),
            json!({ "kind": "text", "text": "Today", "button_id": { "number": "7" } }),
            json!({ "kind": "text", "text": "1?", "rich": rich(Value::Null, Value::Null, json!([]), true) }),
            json!({
                "kind": "video", "text": "look", "file": "https://x.example/f", "thumb": "https://x.example/t",
                "emoji": ":)", "file_size": u64::MAX / 2, "file_name": "f", "duration": 1, "width": 2, "height": 3,
                "performer": "P", "title": "T", "latitude": 52.0, "longitude": -2.5,
            }),
            json!({
                "kind": "photo", "file": "https://x.example/f", "file_size": 1, "file_name": "f",
                "file_id": "0-f", "thumb_id": "0-t",
            }),
            json!({ "kind": "location", "latitude": -12.345_678, "longitude": 180.0 }),
            json!({ "kind": "markdown", "text": "Hi", "rich": rich(json!("**Hi**"), Value::Null, json!([]), false) }),
            json!({ "kind": "buttons", "rich": not_displayable }),
            json!({ "kind": "note", "text": "for us" }),
            json!({
                "kind": "call", "text": "+31201234567",
                "call": {
                    "kind": "callback", "phone": "+31201234567", "status": "start", "status_at": 1, "started_at": 1,
                    "is_acknowledged": false, "ring_seconds": 20, "max_talk_seconds": 60,
                    "base_url": "https://x.example", "revision": 0,
                },
            }),
            json!({ "kind": "callback_requested", "text": "+31201234567" }),
            json!({ "kind": "agent_joined" }),
            json!({ "kind": "chat_closed", "closed_by": "idle" }),
            json!({ "kind": "chat_returned", "text": "Robin" }),
            json!({ "kind": "handover", "text": "**Refund**", "handover": { "priority": "high", "data": "{}" } }),
            json!({ "kind": "chat_updated" }),
            json!({ "kind": "deleted" }),
            json!({ "kind": "deleted", "file_id": "0-f", "thumb_id": "0-t" }),
        ];
        for stored in stored {
            let attributes = serde_dynamo::to_attribute_value(&stored).unwrap();
            let item: ContentItem =
                serde_dynamo::from_attribute_value::<serde_dynamo::AttributeValue, _>(attributes).unwrap();
            let content = Content::try_from(item).unwrap();
            assert_eq!(serde_json::to_value(ContentItem::from(&content)).unwrap(), stored);
        }
    }
}
