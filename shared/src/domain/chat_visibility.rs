//! Which chats a signed-in agent sees. What is seen may be listed and read; what may be done with it is in `ownership`.

use crate::domain::channel::ChannelSettings;
use crate::domain::chat::Chat;
use crate::domain::chat_state::State;
use crate::domain::department::Roster;

/// Somebody who looks at chats of their account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Viewer {
    pub agent_id: u64,
    pub is_admin: bool,
}

impl Viewer {
    /// Whether they see the chat whoever receives it: an admin sees every chat, an agent the chats that they have, or had
    /// when they were closed.
    pub fn sees_anyway(self, chat: &Chat) -> bool {
        self.is_admin || chat.state.agent().is_some_and(|agent| agent.agent_id == self.agent_id)
    }

    /// Whether they see the chat. `channel` has the present settings of its channel; none: the channel was deleted, and
    /// whom it named is not known any more.
    pub fn sees(self, chat: &Chat, roster: &Roster, channel: Option<&ChannelSettings>) -> bool {
        self.sees_anyway(chat) || self.receives(chat, roster, channel)
    }

    /// What waits is seen by those to whom it is offered; what an agent has or had also by the other members of the
    /// department that the chat came to last.
    fn receives(self, chat: &Chat, roster: &Roster, channel: Option<&ChannelSettings>) -> bool {
        let me = self.agent_id;
        let by_channel = channel.is_some_and(|channel| roster.audience(channel).includes(me));
        match &chat.state {
            State::Bot | State::Waiting => by_channel,
            State::Offered(department_id) => roster.is_offered(*department_id, me).unwrap_or(by_channel),
            State::Active(_) | State::Closed(_) => {
                let department = chat.department.as_ref().map(|department| department.department_id);
                by_channel || department.is_some_and(|id| roster.is_offered(id, me) == Some(true))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::domain::account::Author;
    use crate::domain::channel::Validation;
    use crate::domain::chat::Failing;
    use crate::domain::content::Shows;
    use crate::domain::department::{ChatDepartment, Department};
    use crate::domain::rate::Window;
    use crate::domain::timestamp::Timestamp;

    /// Agents 1 to 4 are there. Department 5 has the agents 2 and 3, department 6 nobody.
    fn roster() -> Roster {
        let department = |department_id, agent_ids: &[u64]| Department {
            department_id,
            name: "Sales".into(),
            agent_ids: agent_ids.to_vec(),
        };
        Roster::new(HashSet::from([1, 2, 3, 4]), vec![department(5, &[2, 3]), department(6, &[])])
    }

    fn channel(agent_ids: &[u64]) -> ChannelSettings {
        ChannelSettings {
            name: "App".into(),
            integrator_url: "https://example.com".into(),
            append_channel_id: true,
            enabled: true,
            chunked: false,
            agent_ids: agent_ids.to_vec(),
            department_ids: vec![],
            validation: Validation::Strict,
            hidden_error_codes: vec![],
            shows: Shows::default(),
        }
    }

    fn chat(state: State, department: Option<u64>) -> Chat {
        Chat {
            account_id: "acc".into(),
            chat_id: 1,
            state,
            version: 1,
            channel_id: "CH".into(),
            channel_name: "App".into(),
            external_id: "v".into(),
            has_numeric_id: false,
            invite_hash: None,
            visitor_number: 1,
            visitor_name: "Ada".into(),
            department: department.map(|department_id| ChatDepartment { department_id, name: "Sales".into() }),
            participants: Vec::new(),
            bot_id: None,
            bot_event_at: None,
            seq: 1,
            opened_at: Timestamp(0),
            updated_at: Timestamp(0),
            last_message: None,
            typing_since: None,
            failing: Failing::default(),
            rate: Window { since: Timestamp(0), count: 1 },
            rating: None,
            keep_days: None,
        }
    }

    fn with(agent_id: u64) -> State {
        State::Active(Author { agent_id, name: "Ann".into(), photo: None })
    }

    fn ended_by(agent_id: u64) -> State {
        State::Closed(Some(Author { agent_id, name: "Ann".into(), photo: None }))
    }

    fn viewers(chat: &Chat, channel: Option<&ChannelSettings>) -> Vec<u64> {
        let sees = |agent_id| Viewer { agent_id, is_admin: false }.sees(chat, &roster(), channel);
        (1..=4).filter(|agent_id| sees(*agent_id)).collect()
    }

    #[test]
    fn agents_see_their_own_chats_and_those_offered_to_them() {
        let only_1 = channel(&[1]);
        let table: [(State, Option<u64>, &[u64]); 14] = [
            (State::Bot, None, &[1]),
            (State::Waiting, None, &[1]),
            (State::Waiting, Some(5), &[1]),
            (State::Offered(5), Some(5), &[2, 3]),
            (State::Offered(6), Some(6), &[1]),
            (State::Offered(9), Some(9), &[1]),
            (with(1), None, &[1]),
            (with(4), None, &[1, 4]),
            (with(2), Some(5), &[1, 2, 3]),
            (with(4), Some(6), &[1, 4]),
            (State::Closed(None), None, &[1]),
            (State::Closed(None), Some(5), &[1, 2, 3]),
            (ended_by(4), None, &[1, 4]),
            (ended_by(2), Some(5), &[1, 2, 3]),
        ];
        for (state, department, expected) in table {
            let chat = chat(state, department);
            assert_eq!(viewers(&chat, Some(&only_1)), expected, "{:?}, department {department:?}", chat.state);
        }
    }

    #[test]
    fn everybody_sees_chats_of_a_channel_that_names_nobody() {
        for state in [State::Bot, State::Waiting, with(4), ended_by(4), State::Closed(None), State::Offered(6)] {
            assert_eq!(viewers(&chat(state, None), Some(&channel(&[]))), [1, 2, 3, 4]);
        }
        assert_eq!(viewers(&chat(State::Offered(5), Some(5)), Some(&channel(&[]))), [2, 3]);
    }

    #[test]
    fn chats_of_a_deleted_channel_are_not_offered_to_everybody() {
        let table: [(State, Option<u64>, &[u64]); 6] = [
            (State::Waiting, None, &[]),
            (State::Bot, None, &[]),
            (State::Offered(5), Some(5), &[2, 3]),
            (with(4), Some(5), &[2, 3, 4]),
            (ended_by(4), None, &[4]),
            (State::Closed(None), None, &[]),
        ];
        for (state, department, expected) in table {
            let chat = chat(state, department);
            assert_eq!(viewers(&chat, None), expected, "{:?}", chat.state);
        }
    }

    #[test]
    fn an_admin_sees_every_chat() {
        let states = [State::Bot, State::Waiting, State::Offered(5), with(1), ended_by(1), State::Closed(None)];
        let admin = Viewer { agent_id: 4, is_admin: true };
        for state in states {
            let chat = chat(state, None);
            assert!(admin.sees(&chat, &roster(), Some(&channel(&[1]))) && admin.sees(&chat, &roster(), None));
        }
    }
}
