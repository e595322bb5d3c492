//! Channels: the doors through which visitors write.

use crate::domain::content::Shows;
use crate::domain::rotation::{self, Rotated};
use crate::domain::timestamp::Timestamp;

/// How strictly the integrator's messages and answers are read (docs/decisions.md, Channel API).
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

impl Rotated for AddressSecret {
    fn valid_until(&mut self) -> &mut Option<Timestamp> {
        &mut self.valid_until
    }
}

/// Addresses that one channel may have at a time: the current one and four old ones.
pub const MAX_OLD_ADDRESSES: usize = 1 + rotation::MAX_OLD_SECRETS;

/// What an admin decides about a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelSettings {
    /// Shown to agents.
    pub name: String,
    /// Where agents' messages go: `<integrator_url>/<channel_id>`, see [`filled_url`](Self::filled_url) and
    /// `append_channel_id`.
    pub integrator_url: String,
    /// Whether the channel's identifier is appended to the address, unless it has a place there.
    pub append_channel_id: bool,
    /// Whether visitors may write.
    pub enabled: bool,
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

/// Stands in `integrator_url` for the channel's identifier.
pub const PLACEHOLDER: &str = "{channel_id}";

impl ChannelSettings {
    /// Whether the chats go to some agents and not simply to every agent of the account.
    pub fn names_somebody(&self) -> bool {
        !self.agent_ids.is_empty() || !self.department_ids.is_empty()
    }

    /// The address with the channel's identifier in its place; none where it has no place for it.
    pub fn filled_url(&self, channel_id: &str) -> Option<String> {
        self.integrator_url.contains(PLACEHOLDER).then(|| self.integrator_url.replace(PLACEHOLDER, channel_id))
    }
}

/// Messages that a channel refused for one reason on one day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusals {
    /// The beginning of the day, UTC.
    pub day: Timestamp,
    /// See [`Error::refusal_reason`](crate::error::Error::refusal_reason).
    pub reason: String,
    /// How many.
    pub count: u64,
    /// When the last of them came.
    pub last_at: Timestamp,
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
    /// The addresses that were before and are still valid, the oldest first, and the current one.
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

    /// Puts a new address in place; the current one is answered until `old_until`, and those before it as long as was
    /// said of each, the newest four of them all. When the current one is to end at once, all old ones do.
    pub fn rotate(&mut self, hash: [u8; 32], now: Timestamp, old_until: Timestamp) {
        rotation::rotate(&mut self.secrets, AddressSecret { hash, valid_until: None }, now, old_until);
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
                append_channel_id: true,
                enabled: true,
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

    fn kept(channel: &Channel) -> Vec<(u8, Option<Timestamp>)> {
        channel.secrets.iter().map(|secret| (secret.hash[0], secret.valid_until)).collect()
    }

    #[test]
    fn a_rotation_keeps_every_old_address_as_long_as_was_said_of_it() {
        let mut channel = channel();
        channel.rotate([2; 32], Timestamp(0), Timestamp(100));
        channel.rotate([3; 32], Timestamp(50), Timestamp(80));
        assert_eq!(kept(&channel), [(1, Some(Timestamp(100))), (2, Some(Timestamp(80))), (3, None)]);
        channel.rotate([4; 32], Timestamp(90), Timestamp(200));
        assert_eq!(kept(&channel), [(1, Some(Timestamp(100))), (3, Some(Timestamp(200))), (4, None)]);
    }

    #[test]
    fn a_rotation_keeps_the_newest_four_old_addresses() {
        let mut channel = channel();
        for address in 2..=7 {
            channel.rotate([address; 32], Timestamp(0), Timestamp(100));
        }
        let addresses: Vec<u8> = kept(&channel).iter().map(|(address, _)| *address).collect();
        assert_eq!(addresses, [3, 4, 5, 6, 7]);
    }

    #[test]
    fn a_rotation_that_ends_the_old_address_at_once_ends_all_old_ones() {
        let mut channel = channel();
        channel.rotate([2; 32], Timestamp(0), Timestamp(100));
        channel.rotate([3; 32], Timestamp(50), Timestamp(50));
        assert_eq!(kept(&channel), [(3, None)]);
    }
}
