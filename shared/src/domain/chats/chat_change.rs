//! What an agent changes in a chat without a message or a transition: its tags, and a snooze, which puts the chat aside
//! until a time or until the visitor writes.

use std::time::Duration;

use crate::domain::accounts::agent::AgentSnapshot;
use crate::domain::chats::chat::{Chat, DAY};
use crate::domain::chats::chat_state::ChatEvent;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;

/// The maximum number of tags of a chat. The number is limited because every message in the chat rewrites the header.
pub const MAX_TAGS_PER_CHAT: usize = 10;
pub const MAX_SNOOZE_DAYS: u32 = 90;
pub const MAX_SNOOZE: Duration = DAY.saturating_mul(MAX_SNOOZE_DAYS);

/// An agent has put the chat aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Snooze {
    pub until: Timestamp,
    /// The number of the visitor's last message when the snooze began. A later message ends the snooze, without a write
    /// of its own.
    pub visitor_seq: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SnoozeChange {
    #[default]
    Unchanged,
    End,
    Until(Timestamp),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChatChange {
    pub added_tags: Vec<u64>,
    pub removed_tags: Vec<u64>,
    pub snooze: SnoozeChange,
    /// Whether the agent declines the offer of the chat. This is a write of its own.
    pub declines_offer: bool,
}

impl ChatChange {
    /// Returns the chat with the change.
    ///
    /// # Errors
    /// Fails with `Conflict` if the chat would have too many tags, or if its snooze changes and the agent does not have
    /// the chat.
    pub fn applied_to(&self, chat: &Chat, agent: &AgentSnapshot) -> Result<Chat, Error> {
        let tag_ids = self.tags_of(chat)?;
        let snooze = match self.snooze {
            SnoozeChange::Unchanged => chat.snooze,
            SnoozeChange::End | SnoozeChange::Until(_) => {
                chat.state.after_event(ChatEvent::AgentWrites(agent))?;
                self.snooze.started(chat)
            }
        };
        Ok(Chat { tag_ids, snooze, ..chat.clone() })
    }

    fn tags_of(&self, chat: &Chat) -> Result<Vec<u64>, Error> {
        let mut tag_ids = chat.tag_ids.clone();
        tag_ids.retain(|tag_id| !self.removed_tags.contains(tag_id));
        for tag_id in &self.added_tags {
            if !tag_ids.contains(tag_id) {
                tag_ids.push(*tag_id);
            }
        }
        let has_too_many = tag_ids.len() > MAX_TAGS_PER_CHAT && tag_ids.len() > chat.tag_ids.len();
        if has_too_many { Err(Error::Conflict("a chat has at most 10 tags")) } else { Ok(tag_ids) }
    }
}

impl SnoozeChange {
    fn started(self, chat: &Chat) -> Option<Snooze> {
        match self {
            Self::Until(until) => Some(Snooze { until, visitor_seq: chat.visitor_seq }),
            Self::Unchanged | Self::End => None,
        }
    }
}

impl Chat {
    /// Returns the end of the snooze, which may have passed. `None` if no agent has put the chat aside, or if the
    /// visitor has written since.
    pub fn snoozed_until(&self) -> Option<Timestamp> {
        self.snooze.filter(|snooze| snooze.visitor_seq == self.visitor_seq).map(|snooze| snooze.until)
    }

    pub fn is_snoozed(&self, now: Timestamp) -> bool {
        self.snoozed_until().is_some_and(|until| now < until)
    }

    /// Returns when the idle time of the chat began: at its last activity or, if that is later, at the end of its
    /// snooze. Therefore, a snoozed chat is not closed as idle.
    pub fn idle_since(&self) -> Timestamp {
        self.snoozed_until().map_or(self.updated_at, |until| until.max(self.updated_at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::chats::chat_state::ChatState;
    use crate::wire::sample_data;

    fn agent(agent_id: u64) -> AgentSnapshot {
        AgentSnapshot { agent_id, name: "Ann".into(), photo: None }
    }

    fn chat_of(agent_id: u64) -> Chat {
        Chat { state: ChatState::Active(agent(agent_id)), visitor_seq: 4, ..sample_data::chat(Timestamp(1_000)) }
    }

    fn snoozed_until(until: u64) -> Chat {
        let change = ChatChange { snooze: SnoozeChange::Until(Timestamp(until)), ..ChatChange::default() };
        change.applied_to(&chat_of(1), &agent(1)).unwrap()
    }

    #[test]
    fn tags_are_added_and_removed_once() {
        let change = ChatChange { added_tags: vec![3, 1, 3], removed_tags: vec![2, 9], ..ChatChange::default() };
        let chat = Chat { tag_ids: vec![1, 2], ..chat_of(1) };
        assert_eq!(change.applied_to(&chat, &agent(7)).unwrap().tag_ids, [1, 3]);
    }

    #[test]
    fn chat_has_at_most_ten_tags() {
        let full = Chat { tag_ids: (1..=10).collect(), ..chat_of(1) };
        let add = ChatChange { added_tags: vec![11], ..ChatChange::default() };
        assert!(matches!(add.applied_to(&full, &agent(1)), Err(Error::Conflict(_))));
        let replace = ChatChange { removed_tags: vec![1], ..add };
        assert_eq!(replace.applied_to(&full, &agent(1)).unwrap().tag_ids.len(), MAX_TAGS_PER_CHAT);
    }

    #[test]
    fn snooze_lasts_until_its_time_or_the_visitors_message() {
        let chat = snoozed_until(5_000);
        assert_eq!((chat.is_snoozed(Timestamp(4_999)), chat.is_snoozed(Timestamp(5_000))), (true, false));
        let answered = Chat { visitor_seq: 9, ..chat };
        assert_eq!((answered.is_snoozed(Timestamp(2_000)), answered.snoozed_until()), (false, None));
    }

    #[test]
    fn idle_time_begins_at_the_end_of_the_snooze() {
        let chat = Chat { updated_at: Timestamp(3_000), ..snoozed_until(5_000) };
        assert_eq!(chat.idle_since(), Timestamp(5_000));
        assert_eq!(Chat { visitor_seq: 9, ..chat.clone() }.idle_since(), Timestamp(3_000));
        assert_eq!(Chat { updated_at: Timestamp(8_000), ..chat }.idle_since(), Timestamp(8_000));
    }

    #[test]
    fn only_the_agent_who_has_the_chat_snoozes_it() {
        for snooze in [SnoozeChange::End, SnoozeChange::Until(Timestamp(5_000))] {
            let change = ChatChange { snooze, ..ChatChange::default() };
            assert!(change.applied_to(&chat_of(1), &agent(2)).is_err(), "{snooze:?}");
        }
    }

    #[test]
    fn transition_ends_the_snooze() {
        let chat = snoozed_until(5_000);
        assert_eq!(chat.after_transition(ChatState::Waiting, Timestamp(2_000)).snooze, None);
    }
}
