//! Whether somebody can answer a channel's visitors now, and why not.

use crate::domain::accounts::account_settings::AccountSettings;
use crate::domain::business_hours::BusinessHours;
use crate::domain::channels::channel::Channel;
use crate::domain::named::named;
use crate::domain::timestamp::Timestamp;

named! {
    pub enum AvailabilityReason {
        AgentsOnline = "agents_online",
        NoAgentOnline = "no_agent_online",
        /// It is outside the business hours, or no agent is online and it is outside the callback hours.
        OutsideHours = "outside_hours",
        ChannelDisabled = "channel_disabled",
        AccountSuspended = "account_suspended",
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChannelAvailability {
    pub reason: AvailabilityReason,
    /// When the hours begin again. `None` unless the reason is `OutsideHours`.
    pub opens_at: Option<Timestamp>,
}

impl ChannelAvailability {
    /// Returns why the channel is closed whether or not an agent is online. `None` means that the agents decide.
    pub fn of_closed_channel(channel: &Channel, settings: &AccountSettings) -> Option<Self> {
        let reason = match (settings.suspended_at, channel.settings.enabled) {
            (Some(_), _) => AvailabilityReason::AccountSuspended,
            (None, false) => AvailabilityReason::ChannelDisabled,
            (None, true) => return None,
        };
        Some(Self { reason, opens_at: None })
    }

    /// Business hours decide before the agents do. Without them, the callback hours tell when an agent may come.
    pub fn of_open_channel(
        has_online_agent: bool,
        business_hours: Option<&BusinessHours>,
        settings: &AccountSettings,
        now: Timestamp,
    ) -> Self {
        if let Some(hours) = business_hours.filter(|hours| !hours.is_open(now)) {
            return Self { reason: AvailabilityReason::OutsideHours, opens_at: hours.opens_at(now) };
        }
        let (hours, zone) = (&settings.callback, &settings.time_zone);
        let reason = if has_online_agent {
            AvailabilityReason::AgentsOnline
        } else if hours.enabled && !hours.include(now, zone) {
            AvailabilityReason::OutsideHours
        } else {
            AvailabilityReason::NoAgentOnline
        };
        let is_outside = reason == AvailabilityReason::OutsideHours;
        Self { reason, opens_at: hours.next_start(now, zone).filter(|_| is_outside) }
    }

    pub fn is_online(self) -> bool {
        self.reason == AvailabilityReason::AgentsOnline
    }
}
