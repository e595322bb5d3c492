//! The tags and the saved views in an account's settings.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::accounts::inbox_settings::{
    self, InboxSettings, InvalidTag, MAX_TAG_NAME_CHARS, MAX_VIEW_NAME_CHARS, TagColor, TagDraft, ViewFilter,
    ViewedList,
};
use crate::error::Error;
use crate::wire::fields::values::{Name, Optional, SequentialNumber, Text};

/// A tag that agents put on chats.
#[derive(Serialize, JsonSchema)]
pub struct Tag {
    tag_id: SequentialNumber,
    name: String,
    color: Name<TagColor>,
}

impl From<&inbox_settings::Tag> for Tag {
    fn from(tag: &inbox_settings::Tag) -> Self {
        let inbox_settings::Tag { tag_id, name, color } = tag.clone();
        Self { tag_id: SequentialNumber(tag_id), name, color: Name(color) }
    }
}

/// A tag as it is to be. Names differ in more than upper and lower case.
#[derive(Clone, Deserialize, JsonSchema)]
pub struct TagChange {
    /// The number of a tag that exists, to keep or to rename it. Absent or null for a new tag.
    tag_id: Option<SequentialNumber>,
    name: Text<MAX_TAG_NAME_CHARS>,
    color: Name<TagColor>,
}

impl From<TagChange> for TagDraft {
    fn from(TagChange { tag_id, name: Text(name), color: Name(color) }: TagChange) -> Self {
        Self { tag_id: tag_id.map(|SequentialNumber(tag_id)| tag_id), name, color }
    }
}

/// Replaces the tags of `inbox`. Fails if one of them is not valid.
pub(super) fn replace_tags(inbox: &mut InboxSettings, tags: &[TagChange]) -> Result<(), Error> {
    let drafts: Vec<TagDraft> = tags.iter().cloned().map(TagDraft::from).collect();
    inbox.replace_tags(&drafts).map_err(|error| {
        let (index, field, problem) = match error {
            InvalidTag::Unknown(index) => (index, "tag_id", "does not exist"),
            InvalidTag::Repeated(index) => (index, "tag_id", "is repeated"),
            InvalidTag::SameName(index) => (index, "name", "is the name of another tag"),
        };
        Error::field(format!("tags[{index}].{field}"), problem)
    })
}

/// A filter of a list of chats with a name. All agents of the account share it.
#[derive(Clone, Serialize, JsonSchema)]
pub struct SavedView {
    name: String,
    list: Name<ViewedList>,
    /// The tag of the chats. Absent if it does not matter, like the fields below.
    #[serde(skip_serializing_if = "Optional::is_absent")]
    tag_id: Optional<SequentialNumber>,
    #[serde(skip_serializing_if = "Optional::is_absent")]
    channel_id: Optional<String>,
    #[serde(skip_serializing_if = "Optional::is_absent")]
    department_id: Optional<SequentialNumber>,
    /// Whether only chats are shown that the agent has not read.
    unread: bool,
    /// Whether only chats are shown in which the visitor wrote last.
    unanswered: bool,
}

impl From<&inbox_settings::SavedView> for SavedView {
    fn from(view: &inbox_settings::SavedView) -> Self {
        let inbox_settings::SavedView { name, list, filter } = view.clone();
        let ViewFilter { tag_id, channel_id, department_id, unread, unanswered } = filter;
        Self {
            name,
            list: Name(list),
            tag_id: Optional(tag_id.map(SequentialNumber)),
            channel_id: Optional(channel_id),
            department_id: Optional(department_id.map(SequentialNumber)),
            unread,
            unanswered,
        }
    }
}

const MAX_CHANNEL_ID_CHARS: usize = 64;

/// A saved view as it is to be. Absent fields do not restrict it.
#[derive(Clone, Deserialize, JsonSchema)]
pub struct NewSavedView {
    name: Text<MAX_VIEW_NAME_CHARS>,
    list: Name<ViewedList>,
    tag_id: Option<SequentialNumber>,
    channel_id: Option<Text<MAX_CHANNEL_ID_CHARS>>,
    department_id: Option<SequentialNumber>,
    #[serde(default)]
    unread: bool,
    #[serde(default)]
    unanswered: bool,
}

impl From<NewSavedView> for inbox_settings::SavedView {
    fn from(view: NewSavedView) -> Self {
        let NewSavedView { name: Text(name), list: Name(list), tag_id, channel_id, department_id, unread, unanswered } =
            view;
        let number = |field: Option<SequentialNumber>| field.map(|SequentialNumber(number)| number);
        let filter = ViewFilter {
            tag_id: number(tag_id),
            channel_id: channel_id.map(|Text(channel_id)| channel_id),
            department_id: number(department_id),
            unread,
            unanswered,
        };
        Self { name, list, filter }
    }
}
