//! Determines which agents are online, so that they can receive chats (docs/design.md, Chat ownership).

use crate::domain::named::named;
use std::collections::BTreeMap;
use std::time::Duration;

use crate::domain::timestamp::Timestamp;

/// How long an agent can go without sending a request before they count as offline.
pub const PRESENCE_TIMEOUT: Duration = Duration::from_secs(10 * 60);
/// The time after the loss of an agent's last socket until the agent counts as offline. A page reload or a short
/// network interruption takes less time.
pub const SOCKET_LOSS_TIMEOUT: Duration = Duration::from_secs(90);
/// The time in which two agents who come online may not know of each other: the delay of the table's stream.
const CONCURRENT_ARRIVAL_TIME: Duration = Duration::from_secs(5);

named! {
    pub enum AgentStatus as PresenceStatus {
        Online = "online",
        Away = "away",
        Offline = "offline",
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SocketPresence {
    /// The agent has not opened a socket since they last set their status, so only their requests show that they are
    /// present.
    Unused,
    /// The agent has an open socket, which is closed at this time at the latest. If the socket is not reported as
    /// closed before then, it counts as lost at this time.
    OpenUntil(Timestamp),
    LostAt(Timestamp),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Presence {
    pub agent_id: u64,
    /// The status that the agent has set. Other agents see [`current_status`](Self::current_status).
    pub status: AgentStatus,
    /// The time of the agent's last request or ping. It can be up to a minute too early, because not every request is
    /// recorded.
    pub last_request_at: Timestamp,
    pub socket: SocketPresence,
}

impl Presence {
    pub fn is_online(&self, now: Timestamp) -> bool {
        self.current_status(now) == AgentStatus::Online
    }

    /// Returns the status that other agents see: the status that the agent has chosen, or `Offline` if the agent's last
    /// socket was lost or their last request was made too long ago.
    pub fn current_status(&self, now: Timestamp) -> AgentStatus {
        let has_lost_socket = match self.socket {
            SocketPresence::Unused => false,
            SocketPresence::OpenUntil(at) | SocketPresence::LostAt(at) => now.since(at) >= SOCKET_LOSS_TIMEOUT,
        };
        let is_gone = has_lost_socket || now.since(self.last_request_at) >= PRESENCE_TIMEOUT;
        if is_gone { AgentStatus::Offline } else { self.status }
    }
}

pub fn any_online(presences: &[Presence], is_eligible: impl Fn(u64) -> bool, now: Timestamp) -> bool {
    presences.iter().any(|agent| agent.is_online(now) && is_eligible(agent.agent_id))
}

/// The agents who have just come online (true) or gone (false).
pub type OnlineChanges = BTreeMap<u64, bool>;

/// Whether the changes may have changed whether any eligible agent is online: one of the agents is eligible, and no
/// other eligible agent was online all the time. Another agent whose last request is recent may have come online at the
/// same moment, and may have been told the same about this one. The result can therefore be true although nothing has
/// changed. It can be false although something has changed only if the changes of both agents are processed late; the
/// widgets then read the mode themselves.
pub fn may_change_mode(
    presences: &[Presence],
    changes: &OnlineChanges,
    is_eligible: impl Fn(u64) -> bool,
    now: Timestamp,
) -> bool {
    let has_arrival = changes.values().any(|is_online| *is_online);
    let may_have_just_come = |agent: &Presence| now.since(agent.last_request_at) < CONCURRENT_ARRIVAL_TIME;
    let others = presences.iter().filter(|agent| !changes.contains_key(&agent.agent_id) && is_eligible(agent.agent_id));
    let mut others_before = others.filter(|agent| agent.is_online(now) && !(has_arrival && may_have_just_come(agent)));
    changes.keys().any(|agent_id| is_eligible(*agent_id)) && others_before.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agent_is_online_by_status_recent_request_and_socket() {
        use AgentStatus::{Away, Offline, Online};
        use SocketPresence::{LostAt, OpenUntil, Unused};
        let open = OpenUntil(Timestamp(7_800_005));
        let lost_after = |ms: u64| LostAt(Timestamp(5 + ms));
        let unreported_after = |ms: u64| OpenUntil(Timestamp(5 + ms));
        let table = [
            (Online, Unused, 0, Online),
            (Online, Unused, 599_999, Online),
            (Online, Unused, 600_000, Offline),
            (Online, open, 599_999, Online),
            (Online, open, 600_000, Offline),
            (Online, unreported_after(100_000), 189_999, Online),
            (Online, unreported_after(100_000), 190_000, Offline),
            (Online, lost_after(0), 89_999, Online),
            (Online, lost_after(0), 90_000, Offline),
            (Online, lost_after(300_000), 389_999, Online),
            (Online, lost_after(300_000), 390_000, Offline),
            (Online, lost_after(590_000), 600_000, Offline),
            (Away, Unused, 0, Away),
            (Away, lost_after(0), 90_000, Offline),
            (Away, Unused, 600_000, Offline),
            (Offline, open, 0, Offline),
        ];
        for (status, socket, elapsed_ms, expected) in table {
            let (presence, now) = (presence(1, status, socket), Timestamp(5 + elapsed_ms));
            assert_eq!(presence.current_status(now), expected, "{status:?}, {socket:?} after {elapsed_ms} ms");
            assert_eq!(presence.is_online(now), expected == Online, "{status:?}, {socket:?} after {elapsed_ms} ms");
        }
    }

    fn presence(agent_id: u64, status: AgentStatus, socket: SocketPresence) -> Presence {
        Presence { agent_id, status, last_request_at: Timestamp(5), socket }
    }

    #[test]
    fn only_eligible_agents_count() {
        let presences = [
            presence(1, AgentStatus::Online, SocketPresence::Unused),
            presence(2, AgentStatus::Away, SocketPresence::Unused),
        ];
        let table = [(&[1, 2][..], true), (&[1], true), (&[2], false), (&[3], false), (&[], false)];
        for (eligible, expected) in table {
            let is_eligible = |agent_id| eligible.contains(&agent_id);
            assert_eq!(any_online(&presences, is_eligible, Timestamp(5)), expected, "{eligible:?}");
        }
    }

    #[test]
    fn mode_changes_with_the_first_and_the_last_eligible_agent() {
        let now = Timestamp(100_000);
        let online = |agent_id, seconds_ago: u64| Presence {
            last_request_at: Timestamp(now.0 - seconds_ago * 1_000),
            ..presence(agent_id, AgentStatus::Online, SocketPresence::Unused)
        };
        let away = presence(3, AgentStatus::Away, SocketPresence::Unused);
        let (comes, leaves) = (OnlineChanges::from([(1, true)]), OnlineChanges::from([(1, false)]));
        let table = [
            ("first", &comes, vec![online(1, 0), away], vec![1, 2, 3], true),
            ("second", &comes, vec![online(1, 0), online(2, 6)], vec![1, 2], false),
            ("one of two at once", &comes, vec![online(1, 0), online(2, 1)], vec![1, 2], true),
            ("the other one is not eligible", &comes, vec![online(1, 0), online(2, 6)], vec![1], true),
            ("not eligible", &comes, vec![online(1, 0)], vec![2], false),
            ("last", &leaves, vec![away], vec![1, 3], true),
            ("not the last", &leaves, vec![online(2, 1)], vec![1, 2], false),
            ("only others change", &leaves, vec![], vec![2], false),
        ];
        for (name, changes, presences, eligible, expected) in table {
            let is_eligible = |agent_id| eligible.contains(&agent_id);
            assert_eq!(may_change_mode(&presences, changes, is_eligible, now), expected, "{name}");
        }
    }
}
