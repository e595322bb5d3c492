//! The settings of an account that its admins can change, with their defaults, and the times of idle checks, which
//! follow from the settings.

use std::time::Duration;

use crate::domain::accounts::answer_times::AnswerTimes;
use crate::domain::accounts::assignment::Assignment;
use crate::domain::accounts::inbox_settings::InboxSettings;
use crate::domain::business_hours::BusinessHours;
use crate::domain::deliveries::webhook::{Webhook, WebhookTarget};
use crate::domain::email::email_settings::EmailSettings;
use crate::domain::files::file_settings::FileSettings;
use crate::domain::rate_limit::{
    DEFAULT_BOT_REQUESTS_PER_WINDOW, DEFAULT_CHANNEL_CHATS_PER_WINDOW, DEFAULT_VISITOR_MESSAGES_PER_WINDOW,
};
use crate::domain::text::link_filter::LinkFilter;
use crate::domain::time_zone::TimeZone;
use crate::domain::timestamp::Timestamp;

const DEFAULT_IDLE_CLOSE: Duration = Duration::from_secs(24 * 60 * 60);
/// The maximum time from one idle check of an open chat to the time at which the next one is due. If an admin shortens
/// the idle limit, the new limit therefore takes effect within this time, unless the checks have a backlog.
const MAX_IDLE_CHECK_INTERVAL: Duration = Duration::from_secs(60 * 60);

/// An account's settings, except for its telephony settings and the widget's trigger rules, which are stored
/// separately. The rules are large and only the widget needs them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountSettings {
    /// The number of changes so far. A write succeeds only if the stored version is still the one that was read.
    pub version: u64,
    pub webhooks: Vec<Webhook>,
    pub safe_urls: LinkFilter,
    pub callback: CallbackHours,
    pub limits: RateLimits,
    /// The idle limit: an open chat is closed when this much time has passed since its last message, call event or
    /// transition. `None` means that idle chats stay open.
    pub idle_close: Option<Duration>,
    /// The number of days after which messages, chats and visitors expire. `None` means that they never expire.
    pub retention_days: Option<u32>,
    /// The time zone of the reports' days and of the callback hours.
    pub time_zone: TimeZone,
    pub inbox: InboxSettings,
    /// Those of channels and departments that have none of their own. `None`: always open.
    pub business_hours: Option<BusinessHours>,
    /// `None`: chats are accepted by hand, and agents can have any number of them.
    pub assignment: Option<Assignment>,
    /// `None`: answers have no time limits.
    pub answer_times: Option<AnswerTimes>,
    pub files: FileSettings,
    /// `None`: the account sends no e-mails.
    pub email: Option<EmailSettings>,
    /// When the operator suspended the account. It is stored with the settings, because most requests read them anyway.
    pub suspended_at: Option<Timestamp>,
}

/// The maximum numbers of messages of one visitor, requests of one bot, and new chats of one channel in a window of ten
/// seconds (docs/decisions.md, General).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimits {
    pub visitor_messages: u32,
    pub bot_requests: u64,
    pub channel_chats: u32,
}

/// The days and hours during which visitors can request a call. Whole days on all days of the week are the default, and
/// callbacks then follow the business hours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallbackHours {
    pub enabled: bool,
    /// The days of the week, as numbers from 1 (Monday) to 7 (Sunday).
    pub days: Vec<u8>,
    /// The start and the end, in minutes after midnight. If the end is not after the start, it is on the next day.
    pub hours: (u16, u16),
    /// The offset from UTC in minutes, for example 120 for UTC+2. It applies only if the account's time zone is UTC.
    /// Any other time zone determines the offset itself, with daylight-saving time.
    pub utc_offset: i16,
}

impl Default for AccountSettings {
    fn default() -> Self {
        Self {
            version: 0,
            webhooks: Vec::new(),
            safe_urls: LinkFilter::default(),
            callback: CallbackHours::default(),
            limits: RateLimits {
                visitor_messages: DEFAULT_VISITOR_MESSAGES_PER_WINDOW,
                bot_requests: DEFAULT_BOT_REQUESTS_PER_WINDOW,
                channel_chats: DEFAULT_CHANNEL_CHATS_PER_WINDOW,
            },
            idle_close: Some(DEFAULT_IDLE_CLOSE),
            retention_days: None,
            time_zone: TimeZone::default(),
            inbox: InboxSettings::default(),
            business_hours: None,
            assignment: None,
            answer_times: None,
            files: FileSettings::default(),
            email: None,
            suspended_at: None,
        }
    }
}

impl Default for CallbackHours {
    fn default() -> Self {
        Self { enabled: false, days: (1..=7).collect(), hours: (0, 24 * 60), utc_offset: 0 }
    }
}

/// The account is suspended, so nobody may act in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccountSuspended;

impl AccountSettings {
    /// Fails if the operator has suspended the account.
    pub fn require_not_suspended(&self) -> Result<(), AccountSuspended> {
        if self.suspended_at.is_some() { Err(AccountSuspended) } else { Ok(()) }
    }

    /// Returns the webhook whose URL is `webhook_url` (specification, part C).
    pub fn first_server_webhook(&self) -> Option<&Webhook> {
        self.webhooks.iter().find(|webhook| webhook.target == WebhookTarget::Server)
    }

    /// Returns whether an open chat has reached the idle limit. `idle_since` is
    /// [`Chat::idle_since`](crate::domain::chats::chat::Chat::idle_since).
    pub fn is_idle(&self, idle_since: Timestamp, now: Timestamp) -> bool {
        self.idle_close.is_some_and(|limit| now.since(idle_since) >= limit)
    }

    /// Returns the time of an open chat's next idle check: when the chat reaches the idle limit, but at most one hour
    /// after `now`. `idle_since` is [`Chat::idle_since`](crate::domain::chats::chat::Chat::idle_since).
    pub fn next_idle_check(&self, idle_since: Timestamp, now: Timestamp) -> Timestamp {
        let latest = now.plus(MAX_IDLE_CHECK_INTERVAL);
        if self.suspended_at.is_some() {
            return latest;
        }
        self.idle_close.map_or(latest, |limit| idle_since.plus(limit).min(latest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: u64 = 60_000;

    fn closing_after(minutes: Option<u64>) -> AccountSettings {
        AccountSettings {
            idle_close: minutes.map(|minutes| Duration::from_secs(minutes * 60)),
            ..AccountSettings::default()
        }
    }

    #[test]
    fn chat_is_idle_when_limit_is_reached() {
        let table = [(Some(10), 9, false), (Some(10), 10, true), (Some(10), 99, true), (None, 99_999, false)];
        for (limit, idle_minutes, expected) in table {
            let is_idle = closing_after(limit).is_idle(Timestamp(MINUTE), Timestamp(MINUTE * (idle_minutes + 1)));
            assert_eq!(is_idle, expected, "{limit:?} {idle_minutes}");
        }
    }

    #[test]
    fn next_idle_check_is_at_the_limit_or_after_one_hour() {
        let table = [(Some(10), 4, 10), (Some(600), 4, 64), (None, 4, 64)];
        for (limit, now, expected) in table {
            let next = closing_after(limit).next_idle_check(Timestamp(0), Timestamp(now * MINUTE));
            assert_eq!(next, Timestamp(expected * MINUTE), "{limit:?}");
        }
    }
}
