//! Channels: the doors through which visitors write.

use super::content::Shows;
use super::timestamp::Timestamp;

/// How strictly the integrator's messages and answers are read (gaps.md, Channel API).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Validation {
    /// As the specification says.
    Strict,
    /// Tolerates what clients in the field get wrong.
    Lenient,
}

impl Validation {
    /// The wire and storage name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Strict => "strict",
            Self::Lenient => "lenient",
        }
    }

    /// The mode of that name.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Strict, Self::Lenient].into_iter().find(|mode| mode.name() == name)
    }
}

/// The random part of a channel's address, as a hash: the address itself is never stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressSecret {
    /// SHA-256 of the random string.
    pub hash: [u8; 32],
    /// After a rotation: until when the old address is still answered.
    pub valid_until: Option<Timestamp>,
}

/// What an admin decides about a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelSettings {
    /// Shown to agents.
    pub name: String,
    /// Agents' messages go to `<integrator_url>/<channel_id>`.
    pub integrator_url: String,
    /// Chunked transfer encoding instead of Content-Length towards the integrator.
    pub chunked: bool,
    /// Agents who receive the chats, see [`Roster::audience`](super::department::Roster::audience).
    pub agent_ids: Vec<u64>,
    /// Departments whose members receive the chats too.
    pub department_ids: Vec<u64>,
    /// How strictly both directions are read.
    pub validation: Validation,
    /// Integrator error codes whose message is not shown to the agent.
    pub hidden_error_codes: Vec<i64>,
    /// What the front end can show besides plain text.
    pub shows: Shows,
}

/// A channel of the Chat channel API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channel {
    /// CHANNEL_PUBLIC_ID.
    pub channel_id: String,
    /// The account it belongs to.
    pub account_id: String,
    /// What the admin decided.
    pub settings: ChannelSettings,
    /// The bot in front of it.
    pub bot_id: Option<String>,
    /// The current address and, after a rotation, the one before it.
    pub secrets: Vec<AddressSecret>,
    /// Standard Webhooks secret of requests to the integrator, `whsec_...`.
    pub signing_secret: String,
    /// When it was made.
    pub created_at: Timestamp,
}

impl Channel {
    /// Whether messages are read tolerantly.
    pub fn is_lenient(&self) -> bool {
        self.settings.validation == Validation::Lenient
    }

    /// Whether its chats go to some agents and not simply to every agent of the account.
    pub fn names_somebody(&self) -> bool {
        !self.settings.agent_ids.is_empty() || !self.settings.department_ids.is_empty()
    }

    /// Puts a new address in place; the current one is answered until `old_until`.
    pub fn rotate(&mut self, hash: [u8; 32], now: Timestamp, old_until: Timestamp) {
        self.secrets.retain(|secret| secret.valid_until.is_none());
        for secret in &mut self.secrets {
            secret.valid_until = Some(old_until);
        }
        self.secrets.retain(|secret| secret.valid_until.is_none_or(|until| until > now));
        self.secrets.push(AddressSecret { hash, valid_until: None });
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn channel() -> Channel {
        Channel {
            channel_id: "c".into(),
            account_id: "a".into(),
            settings: ChannelSettings {
                name: "App".into(),
                integrator_url: "https://example.com".into(),
                chunked: false,
                agent_ids: vec![],
                department_ids: vec![],
                validation: Validation::Strict,
                hidden_error_codes: vec![],
                shows: Shows::default(),
            },
            bot_id: None,
            secrets: vec![AddressSecret { hash: [1; 32], valid_until: None }],
            signing_secret: "whsec_".into(),
            created_at: Timestamp(0),
        }
    }

    #[test]
    fn a_rotation_keeps_the_last_address_for_a_while_and_drops_older_ones() {
        let mut channel = channel();
        channel.rotate([2; 32], Timestamp(0), Timestamp(100));
        channel.rotate([3; 32], Timestamp(50), Timestamp(150));
        let kept: Vec<_> = channel.secrets.iter().map(|s| (s.hash[0], s.valid_until)).collect();
        assert_eq!(kept, [(2, Some(Timestamp(150))), (3, None)]);
    }

    #[test]
    fn a_rotation_that_ends_the_old_address_at_once_keeps_only_the_new_one() {
        let mut channel = channel();
        channel.rotate([2; 32], Timestamp(50), Timestamp(50));
        assert_eq!(channel.secrets.len(), 1);
    }
}
