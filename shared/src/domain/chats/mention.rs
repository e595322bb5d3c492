//! Mentions: agents whom a private note names, so that they are told of it.

use crate::domain::chats::chat::Chat;

pub const MAX_MENTIONS_PER_NOTE: usize = 10;
/// The number is limited because every message in the chat rewrites the header.
pub const MAX_MENTIONED_AGENTS: usize = 20;

/// An agent whom a note in the chat mentions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mention {
    pub agent_id: u64,
    /// The number of the last note that mentions the agent. An agent who has read it knows of all of them.
    pub seq: u64,
}

impl Chat {
    /// Returns the mentions after the note with this number has mentioned these agents. Those who were mentioned least
    /// recently are forgotten.
    pub fn mentions_after(&self, agent_ids: &[u64], seq: u64) -> Vec<Mention> {
        let earlier = self.mentions.iter().copied().filter(|mention| !agent_ids.contains(&mention.agent_id));
        let new = agent_ids.iter().map(|agent_id| Mention { agent_id: *agent_id, seq });
        let mut mentions: Vec<Mention> = earlier.chain(new).collect();
        mentions.drain(..mentions.len().saturating_sub(MAX_MENTIONED_AGENTS));
        mentions
    }

    pub fn mentions_agent(&self, agent_id: u64) -> bool {
        self.mentions.iter().any(|mention| mention.agent_id == agent_id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::timestamp::Timestamp;
    use crate::wire::sample_data;

    fn mention(agent_id: u64, seq: u64) -> Mention {
        Mention { agent_id, seq }
    }

    #[test]
    fn last_mention_of_an_agent_replaces_the_earlier_one() {
        let chat = Chat { mentions: vec![mention(1, 4), mention(2, 5)], ..sample_data::chat(Timestamp(1_000)) };
        assert_eq!(chat.mentions_after(&[1, 3], 9), [mention(2, 5), mention(1, 9), mention(3, 9)]);
        assert!(chat.mentions_agent(2) && !chat.mentions_agent(3));
    }

    #[test]
    fn agents_who_were_mentioned_least_recently_are_forgotten() {
        let all: Vec<Mention> = (1..=20).map(|agent_id| mention(agent_id, agent_id)).collect();
        let chat = Chat { mentions: all, ..sample_data::chat(Timestamp(1_000)) };
        let after = chat.mentions_after(&[30], 40);
        assert_eq!((after.len(), after[0], after[19]), (MAX_MENTIONED_AGENTS, mention(2, 2), mention(30, 40)));
    }
}
