//! The stored form of the tags and the saved views in an account's settings.

use serde::{Deserialize, Serialize};

use crate::domain::accounts::inbox_settings::{SavedView, Tag, TagColor, ViewFilter, ViewedList};

#[derive(Serialize, Deserialize)]
pub(super) struct TagItem {
    tag_id: u64,
    name: String,
    color: String,
}

impl From<&Tag> for TagItem {
    fn from(tag: &Tag) -> Self {
        let Tag { tag_id, name, color } = tag.clone();
        Self { tag_id, name, color: color.name().to_owned() }
    }
}

impl From<TagItem> for Tag {
    /// A colour that this version does not know becomes gray, because an error would make all of the account's requests
    /// fail.
    fn from(TagItem { tag_id, name, color }: TagItem) -> Self {
        Self { tag_id, name, color: TagColor::parse(&color).unwrap_or(TagColor::Gray) }
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct SavedViewItem {
    name: String,
    list: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tag_id: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    channel_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    department_id: Option<u64>,
    #[serde(default)]
    unread: bool,
    #[serde(default)]
    unanswered: bool,
}

impl From<&SavedView> for SavedViewItem {
    fn from(view: &SavedView) -> Self {
        let SavedView { name, list, filter } = view.clone();
        let ViewFilter { tag_id, channel_id, department_id, unread, unanswered } = filter;
        Self { name, list: list.name().to_owned(), tag_id, channel_id, department_id, unread, unanswered }
    }
}

impl From<SavedViewItem> for SavedView {
    /// A list that this version does not know becomes the list of all open chats.
    fn from(item: SavedViewItem) -> Self {
        let SavedViewItem { name, list, tag_id, channel_id, department_id, unread, unanswered } = item;
        let filter = ViewFilter { tag_id, channel_id, department_id, unread, unanswered };
        Self { name, list: ViewedList::parse(&list).unwrap_or(ViewedList::All), filter }
    }
}
