//! Merged visitors: one person who has written from several channels or browsers, and is therefore several visitors.
//!
//! Merging joins what agents see and do: the profile, the blacklist status, the list of chats, the search and the
//! erasure. Each visitor keeps the number, the chats and the expiry. Therefore a merge can be undone, and no browser
//! shows the chats of another one, even if an agent has merged the wrong visitors.

use std::collections::BTreeSet;

use crate::domain::visitors::visitor::{MAX_RECENT_CHATS, Visitor, VisitorProfile};

/// The maximum number of visitors who are merged into one person.
pub const MAX_MERGED_VISITORS: usize = 10;

/// A change of which visitors are the same person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeChange {
    /// The visitor and the one with this number are the same person.
    With(u64),
    /// The visitor is none of the others with whom they were merged.
    Separate,
}

/// Returns the numbers of the visitors and of all with whom they are merged.
pub fn person_numbers<'a>(visitors: impl IntoIterator<Item = &'a Visitor>) -> BTreeSet<u64> {
    visitors.into_iter().flat_map(|visitor| [visitor.number].into_iter().chain(visitor.merged_with.clone())).collect()
}

/// Returns the name and the contact data of a person. Where several visitors have a value, that of the first one counts.
pub fn person_profile(visitors: &[Visitor]) -> VisitorProfile {
    let first = |value: fn(&VisitorProfile) -> &Option<String>| {
        let values = visitors.iter().filter_map(|visitor| value(&visitor.profile).as_ref());
        values.into_iter().find(|value| !value.is_empty()).cloned()
    };
    VisitorProfile {
        name: first(|profile| &profile.name),
        phone: first(|profile| &profile.phone),
        email: first(|profile| &profile.email),
        description: first(|profile| &profile.description),
        photo: None,
        url: None,
    }
}

/// What is known of a visitor's chats without reading them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownChats {
    /// The numbers of chats, newest first.
    pub chat_ids: Vec<u64>,
    /// Whether there can be chats before these.
    pub may_have_earlier: bool,
}

impl KnownChats {
    /// Returns the numbers that a visitor's item or a chat refers to.
    pub fn new(chat_ids: Vec<u64>) -> Self {
        Self { may_have_earlier: chat_ids.len() >= MAX_RECENT_CHATS, chat_ids }
    }

    pub fn before(mut self, chat_id: u64) -> Self {
        self.chat_ids.retain(|known| *known < chat_id);
        self
    }
}

/// Returns the numbers of a person's newest chats, newest first and at most `limit`. They end where the earlier chats
/// of one of the visitors may have to follow.
pub fn newest_chats(visitors: &[KnownChats], limit: usize) -> Vec<u64> {
    let incomplete = visitors.iter().filter(|known| known.may_have_earlier);
    let complete_from = incomplete.filter_map(|known| known.chat_ids.last()).max();
    let mut chat_ids: Vec<u64> = visitors.iter().flat_map(|known| known.chat_ids.iter().copied()).collect();
    chat_ids.retain(|chat_id| complete_from.is_none_or(|from| chat_id >= from));
    chat_ids.sort_unstable_by(|a, b| b.cmp(a));
    chat_ids.truncate(limit);
    chat_ids
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_ends_where_earlier_chats_of_a_visitor_may_follow() {
        let busy = KnownChats::new((11..=20).rev().collect());
        let rare = KnownChats::new(vec![30, 3]);
        assert_eq!(newest_chats(&[busy.clone(), rare.clone()], 20), [30, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11]);
        assert_eq!(newest_chats(&[busy.clone(), rare.clone()], 2), [30, 20]);
        assert_eq!(newest_chats(&[busy.before(12), rare.clone().before(12)], 20), [11], "3 may not be the next one");
        assert_eq!(newest_chats(&[rare.before(12), KnownChats::default()], 20), [3]);
    }
}
