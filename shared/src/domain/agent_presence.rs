//! Who is online (docs/design.md, Who owns a chat).

use std::time::Duration;

use crate::domain::timestamp::Timestamp;

/// How long an agent without a socket counts as present after their last call.
pub const PRESENCE_TIMEOUT: Duration = Duration::from_secs(10 * 60);

/// What an agent says about themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Status {
    Online,
    Away,
    Offline,
}

impl Status {
    /// The wire and storage name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Online => "online",
            Self::Away => "away",
            Self::Offline => "offline",
        }
    }

    /// The status of that name.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Online, Self::Away, Self::Offline].into_iter().find(|status| status.name() == name)
    }
}

/// An agent's presence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Presence {
    /// Whose.
    pub agent_id: u64,
    /// What they say.
    pub status: Status,
    /// Their last call.
    pub seen_at: Timestamp,
}

impl Presence {
    /// Whether the agent can take chats now.
    pub fn is_online(&self, now: Timestamp) -> bool {
        self.status == Status::Online && now.since(self.seen_at) < PRESENCE_TIMEOUT
    }
}

/// Whether one of the agents who are meant is online.
pub fn any_online(presences: &[Presence], is_meant: impl Fn(u64) -> bool, now: Timestamp) -> bool {
    presences.iter().any(|agent| agent.is_online(now) && is_meant(agent.agent_id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn online_means_saying_so_and_having_called_lately() {
        let table = [
            (Status::Online, 0, true),
            (Status::Online, 599_999, true),
            (Status::Online, 600_000, false),
            (Status::Away, 0, false),
            (Status::Offline, 0, false),
        ];
        for (status, later, expected) in table {
            let presence = Presence { agent_id: 1, status, seen_at: Timestamp(5) };
            assert_eq!(presence.is_online(Timestamp(5 + later)), expected, "{status:?} after {later} ms");
        }
    }

    #[test]
    fn only_the_agents_who_are_meant_count() {
        let presence = |agent_id, status| Presence { agent_id, status, seen_at: Timestamp(0) };
        let presences = [presence(1, Status::Online), presence(2, Status::Away)];
        let table = [(&[1, 2][..], true), (&[1], true), (&[2], false), (&[3], false), (&[], false)];
        for (meant, expected) in table {
            let is_meant = |agent_id| meant.contains(&agent_id);
            assert_eq!(any_online(&presences, is_meant, Timestamp(0)), expected, "{meant:?}");
        }
    }
}
