//! What the admins of an account set for its inbox: the tags that agents put on chats, and the saved views.

use crate::domain::named::named;

pub const MAX_TAGS: usize = 100;
pub const MAX_TAG_NAME_CHARS: usize = 40;
pub const MAX_SAVED_VIEWS: usize = 20;
pub const MAX_VIEW_NAME_CHARS: usize = 40;

named! {
    /// The colours that the console shows well in its light and its dark theme.
    pub enum TagColor {
        Gray = "gray",
        Red = "red",
        Orange = "orange",
        Green = "green",
        Teal = "teal",
        Blue = "blue",
        Violet = "violet",
        Pink = "pink",
    }
}

named! {
    /// The list of chats that a saved view filters.
    pub enum ViewedList {
        Waiting = "waiting",
        Mine = "mine",
        Bot = "bot",
        All = "all",
        Closed = "closed",
    }
}

/// The settings of the inbox. Tags and views are in the order in which the console lists them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InboxSettings {
    pub tags: Vec<Tag>,
    /// The number of the tag that was created last. Numbers are never reused, because closed chats and reports contain
    /// the numbers of deleted tags.
    pub last_tag_id: u64,
    pub views: Vec<SavedView>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tag {
    pub tag_id: u64,
    pub name: String,
    pub color: TagColor,
}

/// A tag as an admin wants it to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagDraft {
    /// `None` for a new tag.
    pub tag_id: Option<u64>,
    pub name: String,
    pub color: TagColor,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedView {
    pub name: String,
    pub list: ViewedList,
    pub filter: ViewFilter,
}

/// What the chats of a view have in common. `None` and `false` do not restrict the view.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ViewFilter {
    pub tag_id: Option<u64>,
    pub channel_id: Option<String>,
    pub department_id: Option<u64>,
    pub unread: bool,
    pub unanswered: bool,
}

/// Why the tags of an account cannot be replaced. The number is the position of the invalid tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidTag {
    /// No tag has this number.
    Unknown(usize),
    /// A tag before it has the same number.
    Repeated(usize),
    /// A tag before it has the same name, in upper or lower case.
    SameName(usize),
}

impl InboxSettings {
    pub fn tag(&self, tag_id: u64) -> Option<&Tag> {
        self.tags.iter().find(|tag| tag.tag_id == tag_id)
    }

    /// Returns the names of these tags, without those of deleted ones.
    pub fn tag_names(&self, tag_ids: &[u64]) -> Vec<&str> {
        tag_ids.iter().filter_map(|tag_id| self.tag(*tag_id)).map(|tag| tag.name.as_str()).collect()
    }

    /// Replaces the tags. Drafts without a number become new tags; tags without a draft are deleted.
    pub fn replace_tags(&mut self, drafts: &[TagDraft]) -> Result<(), InvalidTag> {
        let (mut tags, mut last_tag_id) = (Vec::<Tag>::with_capacity(drafts.len()), self.last_tag_id);
        for (index, draft) in drafts.iter().enumerate() {
            let TagDraft { tag_id, name, color } = draft.clone();
            if tag_id.is_some_and(|tag_id| self.tag(tag_id).is_none()) {
                return Err(InvalidTag::Unknown(index));
            }
            if tags.iter().any(|tag| Some(tag.tag_id) == tag_id) {
                return Err(InvalidTag::Repeated(index));
            }
            if tags.iter().any(|tag| tag.name.to_lowercase() == name.to_lowercase()) {
                return Err(InvalidTag::SameName(index));
            }
            let tag_id = tag_id.unwrap_or_else(|| {
                last_tag_id += 1;
                last_tag_id
            });
            tags.push(Tag { tag_id, name, color });
        }
        (self.tags, self.last_tag_id) = (tags, last_tag_id);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(tag_id: Option<u64>, name: &str) -> TagDraft {
        TagDraft { tag_id, name: name.to_owned(), color: TagColor::Blue }
    }

    fn with_tags(names: &[&str]) -> InboxSettings {
        let mut settings = InboxSettings::default();
        let drafts: Vec<_> = names.iter().map(|name| draft(None, name)).collect();
        settings.replace_tags(&drafts).unwrap();
        settings
    }

    #[test]
    fn number_of_a_deleted_tag_is_not_reused() {
        let mut settings = with_tags(&["VIP", "Refund"]);
        settings.replace_tags(&[draft(Some(1), "Important"), draft(None, "Order")]).unwrap();
        let tags: Vec<_> = settings.tags.iter().map(|tag| (tag.tag_id, &*tag.name)).collect();
        assert_eq!(tags, [(1, "Important"), (3, "Order")]);
        assert_eq!(settings.tag_names(&[3, 2, 1]), ["Order", "Important"]);
    }

    #[test]
    fn tags_have_distinct_numbers_and_names() {
        let before = with_tags(&["VIP", "Refund"]);
        let table = [
            (vec![draft(Some(9), "a")], InvalidTag::Unknown(0)),
            (vec![draft(Some(1), "a"), draft(Some(1), "b")], InvalidTag::Repeated(1)),
            (vec![draft(Some(1), "Refund"), draft(None, "REFUND")], InvalidTag::SameName(1)),
        ];
        for (drafts, expected) in table {
            let mut settings = before.clone();
            assert_eq!((settings.replace_tags(&drafts), &settings), (Err(expected), &before));
        }
    }
}
