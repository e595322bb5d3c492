//! Merged visitors: one person who has written from several channels or browsers, and is therefore several visitors.
//!
//! A merge only links the visitors. Each keeps its own number, profile, chats and expiry, so a merge can be undone, and
//! nothing of one visitor reaches the browser, the bots or the mailbox of another, even if an agent has merged the wrong
//! ones. What agents see and do is joined: the profile that they see, the list of chats, the search, and the blacklist.

use crate::domain::visitors::visitor::{MAX_RECENT_CHATS, Visitor};

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

impl Visitor {
    /// Whether both are the same person. A link counts only if both visitors have it: the item of an expired visitor
    /// can still contain one that was removed.
    pub fn is_merged_with(&self, other: &Self) -> bool {
        self.merged_with.contains(&other.number) && other.merged_with.contains(&self.number)
    }

    /// Returns the visitor as agents see it: what is not known of the visitor comes from the others, with whom it is
    /// merged. The result must not be stored.
    #[must_use]
    pub fn completed_by(mut self, others: &[Self]) -> Self {
        self.merged_with = others.iter().map(|other| other.number).collect();
        for other in others {
            let (profile, sources) = (&mut self.profile, &mut self.sources);
            complete((&mut profile.name, &mut sources.name), (&other.profile.name, other.sources.name));
            complete((&mut profile.phone, &mut sources.phone), (&other.profile.phone, other.sources.phone));
            complete((&mut profile.email, &mut sources.email), (&other.profile.email, other.sources.email));
            let description = (&other.profile.description, other.sources.description);
            complete((&mut profile.description, &mut sources.description), description);
        }
        self
    }
}

fn complete<S>((value, source): (&mut Option<String>, &mut S), (other_value, other_source): (&Option<String>, S)) {
    let is_blank = |value: &Option<String>| value.as_deref().unwrap_or_default().is_empty();
    if is_blank(value) && !is_blank(other_value) {
        value.clone_from(other_value);
        *source = other_source;
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
    use crate::domain::visitors::visitor::{ProfileSource, ProfileSources, VisitorProfile};
    use crate::wire::sample_data;

    fn visitor(number: u64, name: &str, email: &str, merged_with: &[u64]) -> Visitor {
        let profile =
            VisitorProfile { name: Some(name.into()), email: Some(email.into()), ..VisitorProfile::default() };
        let sources = ProfileSources { email: Some(ProfileSource::Crm), ..ProfileSources::default() };
        Visitor { number, profile, sources, merged_with: merged_with.to_vec(), ..sample_data::visitor() }
    }

    #[test]
    fn unknown_values_come_from_the_first_other_visitor() {
        let others = [visitor(2, "", "", &[1, 3]), visitor(3, "Ada L.", "a@b.example", &[1, 2])];
        let shown = Visitor { sources: ProfileSources::default(), ..visitor(1, "Ada", "", &[9]) }.completed_by(&others);
        assert_eq!((shown.profile.name.as_deref(), shown.profile.email.as_deref()), (Some("Ada"), Some("a@b.example")));
        assert_eq!((shown.sources.name, shown.sources.email), (None, Some(ProfileSource::Crm)));
        assert_eq!(shown.merged_with, [2, 3]);
    }

    #[test]
    fn link_of_one_visitor_only_is_no_merge() {
        let (one, two) = (visitor(1, "", "", &[2]), visitor(2, "", "", &[1]));
        assert!(one.is_merged_with(&two) && two.is_merged_with(&one));
        assert!(!one.is_merged_with(&visitor(2, "", "", &[])));
    }

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
