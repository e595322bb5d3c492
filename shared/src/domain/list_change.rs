//! What changes in the lists of chats that agents' clients show.

use std::collections::{BTreeMap, BTreeSet};

/// A change to one chat.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListChange {
    /// Whether more than the last message has changed, for example the state. Such a change may move the chat from one
    /// list to another, so every client learns it, whatever lists it shows.
    pub is_row_changed: bool,
    /// The numbers of the visitor's new messages.
    pub visitor_messages: BTreeSet<u64>,
}

/// Changes by the number of the chat.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListChanges(pub BTreeMap<u64, ListChange>);

impl ListChanges {
    pub fn add(&mut self, chat_id: u64, change: ListChange) {
        let known = self.0.entry(chat_id).or_default();
        known.is_row_changed |= change.is_row_changed;
        known.visitor_messages.extend(change.visitor_messages);
    }

    pub fn merge(&mut self, others: Self) {
        others.0.into_iter().for_each(|(chat_id, change)| self.add(chat_id, change));
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_to_a_chat_are_joined() {
        let change = |is_row_changed, seqs: &[u64]| ListChange {
            is_row_changed,
            visitor_messages: seqs.iter().copied().collect(),
        };
        let mut changes = ListChanges::default();
        changes.add(7, change(false, &[3]));
        changes.merge(ListChanges(BTreeMap::from([(7, change(true, &[3, 4])), (8, change(false, &[]))])));
        assert_eq!(changes.0, BTreeMap::from([(7, change(true, &[3, 4])), (8, change(false, &[]))]));
    }
}
