//! The statuses of an account's agents and channels as they were last reported to webhooks.
//!
//! Most changes of a status leave no trace in a table: an agent becomes offline because no request comes any more, and a
//! channel when its last agent does. Therefore, the statuses are compared with the last reported ones once a minute. A
//! status that changes and changes back within the minute is not reported.

use std::collections::BTreeMap;

use crate::domain::accounts::agent_presence::AgentStatus;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StatusOwner {
    Agent(u64),
    /// The id of a channel, which is online or offline.
    Channel(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusChange {
    pub owner: StatusOwner,
    pub status: AgentStatus,
}

pub type Statuses = BTreeMap<StatusOwner, AgentStatus>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusWatch {
    pub account_id: String,
    /// The number of the account's last event.
    pub last_seq: u64,
    /// `None` before the first comparison.
    pub reported: Option<Statuses>,
}

impl StatusWatch {
    /// Returns the changes since the last report. An agent or a channel that has been created since then was offline
    /// before. The first comparison reports nothing.
    pub fn changes(&self, current: &Statuses) -> Vec<StatusChange> {
        let Some(reported) = &self.reported else { return Vec::new() };
        let before = |owner| reported.get(owner).copied().unwrap_or(AgentStatus::Offline);
        let changed = current.iter().filter(|(owner, status)| before(owner) != **status);
        changed.map(|(owner, status)| StatusChange { owner: owner.clone(), status: *status }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_those_since_the_last_report() {
        let statuses = |list: &[(u64, AgentStatus)]| -> Statuses {
            list.iter().map(|(agent_id, status)| (StatusOwner::Agent(*agent_id), *status)).collect()
        };
        let (online, away, offline) = (AgentStatus::Online, AgentStatus::Away, AgentStatus::Offline);
        let reported = Some(statuses(&[(1, online), (2, away), (3, online)]));
        let watch = StatusWatch { account_id: "a".into(), last_seq: 4, reported };
        let current = statuses(&[(1, online), (2, offline), (4, online), (5, offline)]);
        let change = |agent_id, status| StatusChange { owner: StatusOwner::Agent(agent_id), status };
        assert_eq!(watch.changes(&current), [change(2, offline), change(4, online)]);
        assert_eq!(StatusWatch { reported: None, ..watch }.changes(&current), [], "the first comparison");
    }
}
