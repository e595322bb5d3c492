//! Channels and their settings. A channel connects visitors to an account. An API channel connects an integrator's
//! front end: visitors' messages arrive at its endpoint URL, which contains a secret that can be rotated, and the
//! answers are sent to the integrator's server. A widget connects the pages on which it is embedded.

use crate::domain::business_hours::BusinessHours;
use crate::domain::channels::secret_rotation::{self, Rotatable};
use crate::domain::channels::signing_secret::SigningSecrets;
use crate::domain::channels::widget::WidgetSettings;
use crate::domain::chats::message_content::RichSupport;
use crate::domain::deliveries::outage::{DeliveryOptions, OutageStatus};
use crate::domain::named::named;
use crate::domain::timestamp::Timestamp;

named! {
    /// How strictly the integrator's messages and responses are validated (docs/decisions.md, Channel API).
    pub enum ValidationMode {
        /// Rejects messages with an invalid field, and counts only a 200 with the `result` `ok` and without an `error`
        /// as a confirmed delivery.
        Strict = "strict",
        /// Ignores invalid optional fields, and counts any 2xx without an `error` as a confirmed delivery.
        Lenient = "lenient",
    }
}

/// The secret part of an endpoint URL: that of a channel, or that of a webhook whose events are fetched. Only its
/// SHA-256 hash is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointSecret {
    pub hash: [u8; 32],
    /// The time at which a rotated secret expires. `None` means that this is the current secret, which does not expire.
    pub valid_until: Option<Timestamp>,
}

impl EndpointSecret {
    /// Returns a current secret with this hash.
    pub fn new(hash: [u8; 32]) -> Self {
        Self { hash, valid_until: None }
    }
}

impl Rotatable for EndpointSecret {
    fn valid_until(&mut self) -> &mut Option<Timestamp> {
        &mut self.valid_until
    }
}

/// The maximum number of valid secrets that an endpoint URL can have: the current secret and the rotated secrets that
/// have not expired.
pub const MAX_ENDPOINT_SECRETS: usize = 1 + secret_rotation::MAX_OLD_SECRETS;

named! {
    #[derive(Default)]
    pub enum ChannelKind {
        /// An integrator's front end (specification, part A).
        #[default]
        Api = "api",
        /// The widget (specification, part D).
        Widget = "widget",
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelSettings {
    pub name: String,
    /// A disabled channel rejects the messages of visitors.
    pub enabled: bool,
    /// The agents `agent_ids` and the members of the departments `department_ids` receive the channel's chats; see
    /// [`Roster::audience`](crate::domain::accounts::department::Roster::audience).
    pub agent_ids: Vec<u64>,
    pub department_ids: Vec<u64>,
    /// Replace those of the departments and the account.
    pub business_hours: Option<BusinessHours>,
    pub specific: KindSettings,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KindSettings {
    Api(ApiSettings),
    Widget(Box<WidgetSettings>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiSettings {
    /// The URL that messages from agents and bots are sent to. It can contain [`CHANNEL_ID_PLACEHOLDER`]. `None` if the
    /// integrator fetches the messages instead.
    pub integrator_url: Option<String>,
    /// Whether `/<channel_id>` is appended to `integrator_url` if the URL does not contain the placeholder.
    pub append_channel_id: bool,
    /// Whether requests to the integrator use chunked transfer encoding instead of Content-Length.
    pub chunked: bool,
    pub validation: ValidationMode,
    /// Error codes for which the integrator's error message is hidden: if a response contains one of these codes,
    /// agents do not see the message.
    pub hidden_error_codes: Vec<i64>,
    pub rich_support: RichSupport,
    pub delivery: DeliveryOptions,
    /// How many percent of the messages are first attempted with a fault, which the integrator's server has to bear.
    pub rehearsal_percent: u8,
}

pub const CHANNEL_ID_PLACEHOLDER: &str = "{channel_id}";

impl ChannelSettings {
    /// Returns whether the settings list any agents or departments. If not, all agents of the account receive the
    /// channel's chats.
    pub fn has_limited_audience(&self) -> bool {
        !self.agent_ids.is_empty() || !self.department_ids.is_empty()
    }

    pub fn kind(&self) -> ChannelKind {
        match self.specific {
            KindSettings::Api(_) => ChannelKind::Api,
            KindSettings::Widget(_) => ChannelKind::Widget,
        }
    }

    pub fn api(&self) -> Option<&ApiSettings> {
        match &self.specific {
            KindSettings::Api(api) => Some(api),
            KindSettings::Widget(_) => None,
        }
    }

    pub fn widget(&self) -> Option<&WidgetSettings> {
        match &self.specific {
            KindSettings::Api(_) => None,
            KindSettings::Widget(widget) => Some(widget),
        }
    }

    /// Returns the message formats that the channel can display. A widget displays all formats.
    pub fn rich_support(&self) -> RichSupport {
        match &self.specific {
            KindSettings::Api(api) => api.rich_support,
            KindSettings::Widget(_) => RichSupport { markdown: true, buttons: true },
        }
    }
}

/// The number of messages that a channel rejected on one day for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusalCount {
    /// The day, given as the time at which it starts in UTC.
    pub day: Timestamp,
    /// The reason, as returned by [`Error::refusal_reason`](crate::error::Error::refusal_reason).
    pub reason: String,
    pub count: u64,
    pub last_at: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channel {
    /// The specification calls this id CHANNEL_PUBLIC_ID. It is not secret.
    pub channel_id: String,
    pub account_id: String,
    pub settings: ChannelSettings,
    /// The bot that new chats in the channel start with. `None` means that new chats go directly to the agents.
    pub bot_id: Option<String>,
    /// The secrets, sorted from the oldest to the newest: first the rotated secrets, then the current secret. A rotated
    /// secret that has expired remains in the list until the next rotation. A widget has no secrets, because its
    /// endpoints are public.
    pub secrets: Vec<EndpointSecret>,
    pub signing_secrets: SigningSecrets,
    pub created_at: Timestamp,
    /// What an outage of the integrator means for the channel. Only the outage itself changes it.
    pub outage_status: OutageStatus,
}

impl Channel {
    pub fn is_lenient(&self) -> bool {
        self.settings.api().is_some_and(|api| api.validation == ValidationMode::Lenient)
    }

    /// Replaces the endpoint secret; see [`secret_rotation::rotate`]. The previous secret stays valid until
    /// `old_until`.
    pub fn rotate(&mut self, hash: [u8; 32], now: Timestamp, old_until: Timestamp) {
        secret_rotation::rotate(&mut self.secrets, EndpointSecret::new(hash), now, old_until);
    }
}

#[cfg(test)]
pub(crate) fn api_channel_settings(agent_ids: &[u64], department_ids: &[u64], api: ApiSettings) -> ChannelSettings {
    ChannelSettings {
        name: "App".into(),
        enabled: true,
        agent_ids: agent_ids.to_vec(),
        department_ids: department_ids.to_vec(),
        business_hours: None,
        specific: KindSettings::Api(api),
    }
}

#[cfg(test)]
pub(crate) fn default_api_settings() -> ApiSettings {
    ApiSettings {
        integrator_url: Some("https://example.com".into()),
        append_channel_id: true,
        chunked: false,
        validation: ValidationMode::Strict,
        hidden_error_codes: Vec::new(),
        rich_support: RichSupport::default(),
        delivery: DeliveryOptions::default(),
        rehearsal_percent: 0,
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
            settings: api_channel_settings(&[], &[], default_api_settings()),
            bot_id: None,
            secrets: vec![EndpointSecret { hash: [1; 32], valid_until: None }],
            signing_secrets: SigningSecrets::new("whsec_"),
            created_at: Timestamp(0),
            outage_status: OutageStatus::default(),
        }
    }

    fn secret_expiries(channel: &Channel) -> Vec<(u8, Option<Timestamp>)> {
        channel.secrets.iter().map(|secret| (secret.hash[0], secret.valid_until)).collect()
    }

    #[test]
    fn rotation_preserves_expiry_of_old_secrets() {
        let mut channel = channel();
        channel.rotate([2; 32], Timestamp(0), Timestamp(100));
        channel.rotate([3; 32], Timestamp(50), Timestamp(80));
        assert_eq!(secret_expiries(&channel), [(1, Some(Timestamp(100))), (2, Some(Timestamp(80))), (3, None)]);
        channel.rotate([4; 32], Timestamp(90), Timestamp(200));
        assert_eq!(secret_expiries(&channel), [(1, Some(Timestamp(100))), (3, Some(Timestamp(200))), (4, None)]);
    }

    #[test]
    fn rotation_keeps_newest_four_old_secrets() {
        let mut channel = channel();
        for address in 2..=7 {
            channel.rotate([address; 32], Timestamp(0), Timestamp(100));
        }
        let addresses: Vec<u8> = secret_expiries(&channel).iter().map(|(address, _)| *address).collect();
        assert_eq!(addresses, [3, 4, 5, 6, 7]);
    }

    #[test]
    fn immediate_rotation_ends_all_old_secrets() {
        let mut channel = channel();
        channel.rotate([2; 32], Timestamp(0), Timestamp(100));
        channel.rotate([3; 32], Timestamp(50), Timestamp(50));
        assert_eq!(secret_expiries(&channel), [(3, None)]);
    }
}
