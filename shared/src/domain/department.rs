//! Departments group agents. Who receives a chat follows from them, from its channel, and from who is still there.
//!
//! Agents and departments that are gone do not count, and their ids never come back. No chat may become unreachable
//! by that: a channel that names nobody who is there goes to everybody, and a chat that was offered to a department
//! without members is offered as its channel says.

use std::collections::HashSet;

use crate::domain::channel::ChannelSettings;

/// A group of agents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Department {
    /// Sequential in the account, from 1.
    pub department_id: u64,
    /// Shown to agents and told to webhooks.
    pub name: String,
    /// Its members. In a [`Roster`] they are all there; as it is stored, some may be gone.
    pub agent_ids: Vec<u64>,
}

/// The department of a chat, as its header remembers it (specification, C1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatDepartment {
    /// Sequential in the account, from 1.
    pub department_id: u64,
    /// Its name when the chat came to it.
    pub name: String,
}

/// Who receives the chats of a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Every agent of the account.
    Everybody,
    /// These agents.
    Only(HashSet<u64>),
}

/// Who works in an account.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roster {
    agent_ids: HashSet<u64>,
    departments: Vec<Department>,
}

impl Department {
    /// What the header of a chat remembers.
    pub fn of_chat(&self) -> ChatDepartment {
        ChatDepartment { department_id: self.department_id, name: self.name.clone() }
    }
}

impl Audience {
    /// Whether an agent belongs to it.
    pub fn includes(&self, agent_id: u64) -> bool {
        match self {
            Self::Everybody => true,
            Self::Only(agent_ids) => agent_ids.contains(&agent_id),
        }
    }
}

impl Roster {
    /// These agents, and these departments with those of their members who are there.
    pub fn new(agent_ids: HashSet<u64>, mut departments: Vec<Department>) -> Self {
        for department in &mut departments {
            department.agent_ids.retain(|id| agent_ids.contains(id));
        }
        Self { agent_ids, departments }
    }

    /// Whether there is such an agent.
    pub fn has_agent(&self, agent_id: u64) -> bool {
        self.agent_ids.contains(&agent_id)
    }

    /// The account's departments.
    pub fn departments(&self) -> &[Department] {
        &self.departments
    }

    /// The department of that id.
    pub fn department(&self, department_id: u64) -> Option<&Department> {
        self.departments.iter().find(|department| department.department_id == department_id)
    }

    /// Who receives the chats of a channel: the agents it names and the members of the departments it names.
    pub fn audience(&self, channel: &ChannelSettings) -> Audience {
        let departments = channel.department_ids.iter().filter_map(|id| self.department(*id));
        let named = channel.agent_ids.iter().chain(departments.flat_map(|department| &department.agent_ids));
        let present: HashSet<u64> = named.filter(|id| self.agent_ids.contains(id)).copied().collect();
        if present.is_empty() { Audience::Everybody } else { Audience::Only(present) }
    }

    /// Whether what is offered to a department is offered to an agent. None: it has no members, so that nothing can
    /// be offered to it.
    pub fn is_offered(&self, department_id: u64, agent_id: u64) -> Option<bool> {
        let members = &self.department(department_id)?.agent_ids;
        (!members.is_empty()).then(|| members.contains(&agent_id))
    }

    /// The department of a new chat: the one that its channel names, if it names exactly one.
    pub fn department_of(&self, channel: &ChannelSettings) -> Option<ChatDepartment> {
        let [only] = channel.department_ids.as_slice() else { return None };
        self.department(*only).map(Department::of_chat)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::channel::Validation;
    use crate::domain::content::Shows;

    fn department(department_id: u64, agent_ids: &[u64]) -> Department {
        Department { department_id, name: format!("Department {department_id}"), agent_ids: agent_ids.to_vec() }
    }

    /// Agents 1 to 4 are there, 8 and 9 are gone, and so is department 9.
    fn roster() -> Roster {
        let departments =
            vec![department(1, &[1, 2]), department(2, &[2, 3, 9]), department(3, &[]), department(4, &[9])];
        Roster::new(HashSet::from([1, 2, 3, 4]), departments)
    }

    fn channel(agent_ids: &[u64], department_ids: &[u64]) -> ChannelSettings {
        ChannelSettings {
            name: "App".into(),
            integrator_url: "https://example.com".into(),
            append_channel_id: true,
            enabled: true,
            chunked: false,
            agent_ids: agent_ids.to_vec(),
            department_ids: department_ids.to_vec(),
            validation: Validation::Strict,
            hidden_error_codes: vec![],
            shows: Shows::default(),
        }
    }

    #[test]
    fn a_channel_goes_to_whom_it_names_or_else_to_everybody() {
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
            let everybody: Vec<u64> = (1..=9).collect();
            let expected = if expected.is_empty() { &everybody } else { expected };
            assert_eq!(found, expected, "agents {agent_ids:?}, departments {department_ids:?}");
        }
    }

    #[test]
    fn the_members_of_a_department_are_those_who_are_there() {
        let members: Vec<_> = roster().departments().iter().map(|department| department.agent_ids.clone()).collect();
        assert_eq!(members, [vec![1, 2], vec![2, 3], vec![], vec![]]);
        assert_eq!((roster().has_agent(4), roster().has_agent(9)), (true, false));
    }

    #[test]
    fn an_offer_is_for_the_members_and_for_nobody_where_none_is_left() {
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
            assert_eq!(roster().is_offered(department_id, agent_id), expected, "{agent_id} in {department_id}");
        }
    }

    #[test]
    fn a_new_chat_has_the_one_department_that_its_channel_names() {
        let named = |department_ids: &[u64]| roster().department_of(&channel(&[1], department_ids));
        assert_eq!(named(&[2]), Some(ChatDepartment { department_id: 2, name: "Department 2".into() }));
        for none in [&[][..], &[1, 2], &[9]] {
            assert_eq!(named(none), None, "{none:?}");
        }
    }
}
