//! Determines which agents are online, so that they can receive chats (docs/design.md, Chat ownership).

use std::time::Duration;

use crate::domain::timestamp::Timestamp;

/// How long an agent can go without sending a request before they count as offline.
pub const PRESENCE_TIMEOUT: Duration = Duration::from_secs(10 * 60);

/// The availability that an agent has chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentStatus {
    Online,
    Away,
    Offline,
}

impl AgentStatus {
    /// The name of this value in the APIs and in stored items.
    pub fn name(self) -> &'static str {
        match self {
            Self::Online => "online",
            Self::Away => "away",
            Self::Offline => "offline",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        [Self::Online, Self::Away, Self::Offline].into_iter().find(|status| status.name() == name)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Presence {
    pub agent_id: u64,
    pub status: AgentStatus,
    pub last_request_at: Timestamp,
}

impl Presence {
    pub fn is_online(&self, now: Timestamp) -> bool {
        self.status == AgentStatus::Online && now.since(self.last_request_at) < PRESENCE_TIMEOUT
    }
}

pub fn any_online(presences: &[Presence], is_eligible: impl Fn(u64) -> bool, now: Timestamp) -> bool {
    presences.iter().any(|agent| agent.is_online(now) && is_eligible(agent.agent_id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agent_is_online_by_status_and_recent_request() {
        let table = [
            (AgentStatus::Online, 0, true),
            (AgentStatus::Online, 599_999, true),
            (AgentStatus::Online, 600_000, false),
            (AgentStatus::Away, 0, false),
            (AgentStatus::Offline, 0, false),
        ];
        for (status, elapsed_ms, expected) in table {
            let presence = Presence { agent_id: 1, status, last_request_at: Timestamp(5) };
            assert_eq!(presence.is_online(Timestamp(5 + elapsed_ms)), expected, "{status:?} after {elapsed_ms} ms");
        }
    }

    #[test]
    fn only_eligible_agents_count() {
        let presence = |agent_id, status| Presence { agent_id, status, last_request_at: Timestamp(0) };
        let presences = [presence(1, AgentStatus::Online), presence(2, AgentStatus::Away)];
        let table = [(&[1, 2][..], true), (&[1], true), (&[2], false), (&[3], false), (&[], false)];
        for (eligible, expected) in table {
            let is_eligible = |agent_id| eligible.contains(&agent_id);
            assert_eq!(any_online(&presences, is_eligible, Timestamp(0)), expected, "{eligible:?}");
        }
    }
}
