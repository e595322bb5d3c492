//! A message that an agent has written, and that the service sends at a later time.

use std::time::Duration;

use crate::domain::accounts::agent::AgentSnapshot;
use crate::domain::chats::chat::{Chat, DAY};
use crate::domain::timestamp::Timestamp;
use crate::error::Error;

/// The maximum number of planned messages of a chat.
pub const MAX_PLANNED_PER_CHAT: u32 = 10;
pub const MAX_PLAN_DAYS: u32 = 30;
pub const MAX_PLAN: Duration = DAY.saturating_mul(MAX_PLAN_DAYS);
/// How long after its time the table keeps a message that could be neither sent nor deleted.
pub(crate) const UNSENT_TTL: Duration = DAY.saturating_mul(7);
/// For how long a process that sends a planned message keeps others from doing so. If the process dies, the message is
/// sent after this time.
pub(crate) const CLAIM_DURATION: Duration = Duration::from_secs(60);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedMessage {
    pub account_id: String,
    pub chat_id: u64,
    /// Unique in its chat.
    pub planned_id: String,
    /// The author.
    pub agent: AgentSnapshot,
    pub text: String,
    pub send_at: Timestamp,
    /// Until when a process is sending the message. `None` if no process has begun to.
    pub claimed_until: Option<Timestamp>,
}

impl PlannedMessage {
    /// Whether the agent may cancel the message or send it now: its author, the agent who has the chat, or an admin.
    ///
    /// # Errors
    /// Fails with `Forbidden` if the agent may not.
    pub fn require_changeable_by(&self, agent_id: u64, is_admin: bool, chat: &Chat) -> Result<(), Error> {
        let has_chat = chat.state.agent().is_some_and(|agent| agent.agent_id == agent_id) && !chat.state.is_closed();
        if is_admin || has_chat || self.agent.agent_id == agent_id {
            Ok(())
        } else {
            Err(Error::Forbidden("only its author, the agent of the chat or an admin can change a planned message"))
        }
    }

    /// Whether both have the same author, text and time.
    pub(crate) fn is_repetition_of(&self, other: &Self) -> bool {
        (self.agent.agent_id, &self.text, self.send_at) == (other.agent.agent_id, &other.text, other.send_at)
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

    #[test]
    fn author_owner_and_admin_change_a_planned_message() {
        let planned = PlannedMessage {
            account_id: "acc".into(),
            chat_id: 1,
            planned_id: "p".into(),
            agent: agent(1),
            text: "hi".into(),
            send_at: Timestamp(5),
            claimed_until: None,
        };
        let active = Chat { state: ChatState::Active(agent(2)), ..sample_data::chat(Timestamp(0)) };
        let closed = Chat { state: ChatState::Closed(Some(agent(2))), ..active.clone() };
        for (agent_id, is_admin, chat, is_allowed) in [
            (1, false, &active, true),
            (2, false, &active, true),
            (3, false, &active, false),
            (3, true, &active, true),
            (2, false, &closed, false),
        ] {
            assert_eq!(planned.require_changeable_by(agent_id, is_admin, chat).is_ok(), is_allowed, "{agent_id}");
        }
    }
}
