//! Departments and channel audiences. A channel's audience is the set of agents who receive its chats.
//!
//! Deleted agents and departments are ignored, and their ids are never reused. A deletion must not make a chat
//! unreachable. Therefore, if neither a channel's agents nor members of its departments exist any more, its audience
//! consists of all agents of the account. A chat that is offered to a department that was deleted or has no members is
//! offered to the audience of its channel instead.

use std::collections::HashSet;

use crate::domain::accounts::agent_presence::{self, Presence};
use crate::domain::accounts::answer_times::AnswerTimes;
use crate::domain::accounts::assignment::AssignmentRule;
use crate::domain::business_hours::BusinessHours;
use crate::domain::channels::channel::ChannelSettings;
use crate::domain::timestamp::Timestamp;

/// Limits the size of the roster.
pub const MAX_DEPARTMENTS_PER_ACCOUNT: usize = 100;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Department {
    /// A sequential number within the account, starting at 1.
    pub department_id: u64,
    /// The name that agents see and that is sent to webhooks.
    pub name: String,
    /// The ids of the members. A stored department can contain deleted agents; a department in a [`Roster`] does not.
    pub agent_ids: Vec<u64>,
    /// The bot that answers first in chats that are opened in this department. `None` stands for the bot of the
    /// channel.
    pub bot_id: Option<String>,
    /// Replace the account's business hours in chats of the department.
    pub business_hours: Option<BusinessHours>,
    /// Replaces that of the account in chats of the department. It has no effect in an account without an assignment.
    pub assignment: Option<AssignmentRule>,
    /// Replace those of the account in chats of the department. They have no effect in an account without time limits.
    pub answer_times: Option<AnswerTimes>,
}

/// The department data that is copied into a chat (specification, table C1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatDepartment {
    pub department_id: u64,
    pub name: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Audience {
    AllAgents,
    Only(HashSet<u64>),
}

/// The agents and departments of an account.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roster {
    agent_ids: HashSet<u64>,
    departments: Vec<Department>,
    agent_phones: Vec<String>,
}

impl Department {
    pub fn snapshot(&self) -> ChatDepartment {
        ChatDepartment { department_id: self.department_id, name: self.name.clone() }
    }
}

impl Audience {
    pub fn includes(&self, agent_id: u64) -> bool {
        match self {
            Self::AllAgents => true,
            Self::Only(agent_ids) => agent_ids.contains(&agent_id),
        }
    }

    /// Whether an agent in the audience is online; `presences` are those of the account.
    pub fn has_online_agent(&self, presences: &[Presence], now: Timestamp) -> bool {
        agent_presence::any_online(presences, |agent_id| self.includes(agent_id), now)
    }
}

impl Roster {
    /// Creates a roster. Agents that are not in `agent_ids` have been deleted, so they are removed from the
    /// departments.
    pub fn new(agent_ids: HashSet<u64>, mut departments: Vec<Department>) -> Self {
        for department in &mut departments {
            department.agent_ids.retain(|id| agent_ids.contains(id));
        }
        Self { agent_ids, departments, agent_phones: Vec::new() }
    }

    pub fn with_agent_phones(self, agent_phones: Vec<String>) -> Self {
        Self { agent_phones, ..self }
    }

    /// Returns the agents' phone numbers as they are typed in their profiles.
    pub fn agent_phones(&self) -> impl Iterator<Item = &str> {
        self.agent_phones.iter().map(String::as_str)
    }

    pub fn has_agent(&self, agent_id: u64) -> bool {
        self.agent_ids.contains(&agent_id)
    }

    pub fn departments(&self) -> &[Department] {
        &self.departments
    }

    pub fn department(&self, department_id: u64) -> Option<&Department> {
        self.departments.iter().find(|department| department.department_id == department_id)
    }

    /// Returns the agents who receive the chats of a channel: the channel's agents and the members of its departments.
    /// Returns all agents of the account if the channel has none of them, or if all of them were deleted.
    pub fn audience(&self, channel: &ChannelSettings) -> Audience {
        let departments = channel.department_ids.iter().filter_map(|id| self.department(*id));
        let named = channel.agent_ids.iter().chain(departments.flat_map(|department| &department.agent_ids));
        let existing: HashSet<u64> = named.filter(|id| self.agent_ids.contains(id)).copied().collect();
        if existing.is_empty() { Audience::AllAgents } else { Audience::Only(existing) }
    }

    /// Returns whether a chat that is offered to a department is offered to the given agent. Returns `None` if the
    /// department does not exist or has no members, because a chat cannot be offered to such a department.
    pub fn offer_includes(&self, department_id: u64, agent_id: u64) -> Option<bool> {
        let members = &self.department(department_id)?.agent_ids;
        (!members.is_empty()).then(|| members.contains(&agent_id))
    }

    /// Returns the department of a new chat: the only department of its channel. Returns `None` if the channel has no
    /// department or more than one, or if its only department was deleted.
    pub fn default_department(&self, channel: &ChannelSettings) -> Option<ChatDepartment> {
        let [only] = channel.department_ids.as_slice() else { return None };
        self.department(*only).map(Department::snapshot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::channels::channel::{api_channel_settings, default_api_settings};

    fn department(department_id: u64, agent_ids: &[u64]) -> Department {
        Department {
            department_id,
            name: format!("Department {department_id}"),
            agent_ids: agent_ids.to_vec(),
            ..Department::default()
        }
    }

    /// Creates a roster with agents 1 to 4. Agents 8 and 9 and department 9 are deleted.
    fn roster() -> Roster {
        let departments =
            vec![department(1, &[1, 2]), department(2, &[2, 3, 9]), department(3, &[]), department(4, &[9])];
        Roster::new(HashSet::from([1, 2, 3, 4]), departments)
    }

    fn channel(agent_ids: &[u64], department_ids: &[u64]) -> ChannelSettings {
        api_channel_settings(agent_ids, department_ids, default_api_settings())
    }

    #[test]
    fn audience_is_named_agents_or_all_agents() {
        let table: [(&[u64], &[u64], &[u64]); 12] = [
            (&[], &[], &[]),
            (&[4], &[], &[4]),
            (&[4, 9], &[], &[4]),
            (&[9], &[], &[]),
            (&[8, 9], &[9], &[]),
            (&[], &[1], &[1, 2]),
            (&[], &[1, 2], &[1, 2, 3]),
            (&[4], &[2], &[2, 3, 4]),
            (&[9], &[2, 9], &[2, 3]),
            (&[4], &[9], &[4]),
            (&[], &[9], &[]),
            (&[], &[3, 4], &[]),
        ];
        for (agent_ids, department_ids, expected) in table {
            let audience = roster().audience(&channel(agent_ids, department_ids));
            let found: Vec<u64> = (1..=9).filter(|id| audience.includes(*id)).collect();
            let all_agents: Vec<u64> = (1..=9).collect();
            let expected = if expected.is_empty() { &all_agents } else { expected };
            assert_eq!(found, expected, "agents {agent_ids:?}, departments {department_ids:?}");
        }
    }

    #[test]
    fn roster_omits_deleted_members() {
        let members: Vec<_> = roster().departments().iter().map(|department| department.agent_ids.clone()).collect();
        assert_eq!(members, [vec![1, 2], vec![2, 3], vec![], vec![]]);
        assert_eq!((roster().has_agent(4), roster().has_agent(9)), (true, false));
    }

    #[test]
    fn offer_includes_only_existing_members() {
        let table = [
            (1, 1, Some(true)),
            (1, 3, Some(false)),
            (2, 3, Some(true)),
            (2, 1, Some(false)),
            (3, 1, None),
            (4, 1, None),
            (4, 9, None),
            (9, 1, None),
        ];
        for (department_id, agent_id, expected) in table {
            assert_eq!(roster().offer_includes(department_id, agent_id), expected, "{agent_id} in {department_id}");
        }
    }

    #[test]
    fn new_chat_has_the_single_department_of_its_channel() {
        let named = |department_ids: &[u64]| roster().default_department(&channel(&[1], department_ids));
        assert_eq!(named(&[2]), Some(ChatDepartment { department_id: 2, name: "Department 2".into() }));
        for none in [&[][..], &[1, 2], &[9]] {
            assert_eq!(named(none), None, "{none:?}");
        }
    }
}
