//! Determines which chats an agent can see (docs/design.md, Chat visibility). [`ChatState`] defines what an agent can
//! do with a chat.

use crate::domain::accounts::department::Roster;
use crate::domain::channels::channel::ChannelSettings;
use crate::domain::chats::chat::Chat;
use crate::domain::chats::chat_state::ChatState;

/// The signed-in agent who sends a request or gets pushes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Viewer {
    pub agent_id: u64,
    pub is_admin: bool,
}

impl Viewer {
    /// Whether the viewer sees the chat regardless of its audience (the agents who receive the chats of its channel).
    /// An admin sees every chat. An agent sees every chat that is assigned to them or was assigned to them when it was
    /// closed.
    pub fn sees_regardless_of_audience(self, chat: &Chat) -> bool {
        self.is_admin || chat.state.agent().is_some_and(|agent| agent.agent_id == self.agent_id)
    }

    /// Returns whether the viewer sees the chat. `channel` contains the current settings of the chat's channel. `None`
    /// means that the channel was deleted, so it has no audience.
    pub fn sees(self, chat: &Chat, roster: &Roster, channel: Option<&ChannelSettings>) -> bool {
        self.sees_regardless_of_audience(chat) || self.sees_by_audience(chat, roster, channel)
    }

    /// Whether the viewer sees the chat because of the channel's audience or because of a department. A chat with the
    /// bot is visible to the audience of its channel, and a waiting chat to the agents it is offered to. An active or
    /// closed chat is visible to the audience of its channel and to the members of its last department.
    fn sees_by_audience(self, chat: &Chat, roster: &Roster, channel: Option<&ChannelSettings>) -> bool {
        let agent_id = self.agent_id;
        let by_channel = channel.is_some_and(|channel| roster.audience(channel).includes(agent_id));
        match &chat.state {
            ChatState::Bot | ChatState::Waiting => by_channel,
            ChatState::Offered(department_id) => roster.offer_includes(*department_id, agent_id).unwrap_or(by_channel),
            ChatState::Active(_) | ChatState::Closed(_) => {
                let department = chat.department.as_ref().map(|department| department.department_id);
                by_channel || department.is_some_and(|id| roster.offer_includes(id, agent_id) == Some(true))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::domain::chats::chat::BotAnswers;
    use crate::domain::chats::chat_assignment::ChatAssignment;
    use std::collections::HashSet;

    use std::collections::BTreeMap;

    use super::*;
    use crate::domain::accounts::agent::AgentSnapshot;
    use crate::domain::accounts::department::{ChatDepartment, Department};
    use crate::domain::channels::channel::{ChannelKind, api_channel_settings, default_api_settings};
    use crate::domain::time_zone::{Day, TimeZone};
    use crate::domain::timestamp::Timestamp;

    /// Creates a roster with agents 1 to 4. Department 5 contains agents 2 and 3; department 6 is empty.
    fn roster() -> Roster {
        let department = |department_id, agent_ids: &[u64]| Department {
            department_id,
            name: "Sales".into(),
            agent_ids: agent_ids.to_vec(),
            ..Department::default()
        };
        Roster::new(HashSet::from([1, 2, 3, 4]), vec![department(5, &[2, 3]), department(6, &[])])
    }

    fn channel(agent_ids: &[u64]) -> ChannelSettings {
        api_channel_settings(agent_ids, &[], default_api_settings())
    }

    fn chat(state: ChatState, department: Option<u64>) -> Chat {
        Chat {
            account_id: "acc".into(),
            chat_id: 1,
            state,
            version: 1,
            channel_id: "CH".into(),
            channel_kind: ChannelKind::Api,
            channel_name: "App".into(),
            external_id: "v".into(),
            has_numeric_id: false,
            invite_hash: None,
            visitor_number: 1,
            visitor_name: "Ada".into(),
            department: department.map(|department_id| ChatDepartment { department_id, name: "Sales".into() }),
            participants: Vec::new(),
            bot_id: None,
            former_bots: Vec::new(),
            given_to_bot_at: None,
            bot_event_at: None,
            repeated_to_bot: None,
            handover: None,
            visitor_seq: 1,
            bot_answers: BotAnswers::default(),
            seq: 1,
            opened_at: Timestamp(0),
            opened_on: Day::of(Timestamp(0), &TimeZone::default()),
            first_answer_at: None,
            agent_joined_at: None,
            closed_at: None,
            updated_at: Timestamp(0),
            other_change_at: None,
            last_message: None,
            waiting_since: None,
            typing_started_at: None,
            typing_text: None,
            failing_until: BTreeMap::new(),
            undelivered: Vec::new(),
            rating: None,
            tag_ids: Vec::new(),
            snooze: None,
            mentions: Vec::new(),
            assignment: ChatAssignment::default(),
            answer_due: None,
            messages_changed_at: None,
            planned: 0,
            retention_days: None,
            previous_chats: Vec::new(),
        }
    }

    fn active_with(agent_id: u64) -> ChatState {
        ChatState::Active(AgentSnapshot { agent_id, name: "Ann".into(), photo: None })
    }

    fn closed_by(agent_id: u64) -> ChatState {
        ChatState::Closed(Some(AgentSnapshot { agent_id, name: "Ann".into(), photo: None }))
    }

    fn viewers(chat: &Chat, channel: Option<&ChannelSettings>) -> Vec<u64> {
        let sees = |agent_id| Viewer { agent_id, is_admin: false }.sees(chat, &roster(), channel);
        (1..=4).filter(|agent_id| sees(*agent_id)).collect()
    }

    #[test]
    fn agents_see_their_own_chats_and_those_offered_to_them() {
        let only_1 = channel(&[1]);
        let table: [(ChatState, Option<u64>, &[u64]); 14] = [
            (ChatState::Bot, None, &[1]),
            (ChatState::Waiting, None, &[1]),
            (ChatState::Waiting, Some(5), &[1]),
            (ChatState::Offered(5), Some(5), &[2, 3]),
            (ChatState::Offered(6), Some(6), &[1]),
            (ChatState::Offered(9), Some(9), &[1]),
            (active_with(1), None, &[1]),
            (active_with(4), None, &[1, 4]),
            (active_with(2), Some(5), &[1, 2, 3]),
            (active_with(4), Some(6), &[1, 4]),
            (ChatState::Closed(None), None, &[1]),
            (ChatState::Closed(None), Some(5), &[1, 2, 3]),
            (closed_by(4), None, &[1, 4]),
            (closed_by(2), Some(5), &[1, 2, 3]),
        ];
        for (state, department, expected) in table {
            let chat = chat(state, department);
            assert_eq!(viewers(&chat, Some(&only_1)), expected, "{:?}, department {department:?}", chat.state);
        }
    }

    #[test]
    fn channel_without_named_agents_is_visible_to_all() {
        for state in [
            ChatState::Bot,
            ChatState::Waiting,
            active_with(4),
            closed_by(4),
            ChatState::Closed(None),
            ChatState::Offered(6),
        ] {
            assert_eq!(viewers(&chat(state, None), Some(&channel(&[]))), [1, 2, 3, 4]);
        }
        assert_eq!(viewers(&chat(ChatState::Offered(5), Some(5)), Some(&channel(&[]))), [2, 3]);
    }

    #[test]
    fn chats_of_deleted_channel_have_no_audience() {
        let table: [(ChatState, Option<u64>, &[u64]); 6] = [
            (ChatState::Waiting, None, &[]),
            (ChatState::Bot, None, &[]),
            (ChatState::Offered(5), Some(5), &[2, 3]),
            (active_with(4), Some(5), &[2, 3, 4]),
            (closed_by(4), None, &[4]),
            (ChatState::Closed(None), None, &[]),
        ];
        for (state, department, expected) in table {
            let chat = chat(state, department);
            assert_eq!(viewers(&chat, None), expected, "{:?}", chat.state);
        }
    }

    #[test]
    fn admin_sees_every_chat() {
        let states = [
            ChatState::Bot,
            ChatState::Waiting,
            ChatState::Offered(5),
            active_with(1),
            closed_by(1),
            ChatState::Closed(None),
        ];
        let admin = Viewer { agent_id: 4, is_admin: true };
        for state in states {
            let chat = chat(state, None);
            assert!(admin.sees(&chat, &roster(), Some(&channel(&[1]))) && admin.sees(&chat, &roster(), None));
        }
    }
}
