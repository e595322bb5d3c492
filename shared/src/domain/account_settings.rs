//! What an admin decides for a whole account.

use std::time::Duration;

use crate::domain::link_filter::SafeUrls;
use crate::domain::rate::{BOT_LIMIT, CHANNEL_LIMIT, VISITOR_LIMIT};
use crate::domain::timestamp::Timestamp;
use crate::domain::webhook::Webhook;

/// How long a chat may rest before it is closed, when nothing is said: a day.
const DEFAULT_IDLE_CLOSE: Duration = Duration::from_secs(24 * 60 * 60);
/// A chat is looked at again after this long at the latest, so that a shorter limit soon holds for chats that are open.
const MAX_IDLE_CHECK_INTERVAL: Duration = Duration::from_secs(60 * 60);

/// The settings of an account, except for the trigger rules, which are large and only for the widget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Which save this is; the next one counts on from here.
    pub version: u64,
    /// Who is told of chats and calls.
    pub webhooks: Vec<Webhook>,
    /// The domains that links shown to agents may lead to.
    pub safe_urls: SafeUrls,
    /// When visitors may ask to be called.
    pub callback: Callback,
    /// The rate limits.
    pub limits: Limits,
    /// How long a chat may rest before it is closed; none: for ever.
    pub idle_close: Option<Duration>,
    /// How long what is stored is kept, in days; none: for ever.
    pub retention_days: Option<u32>,
}

/// The rate limits (docs/decisions.md, Everywhere): how many in ten seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Messages of one visitor.
    pub visitor_messages: u32,
    /// Requests of one bot connection.
    pub bot_requests: u64,
    /// Chats that one channel opens.
    pub channel_chats: u32,
}

/// When visitors may ask to be called: on these days, between these times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Callback {
    /// Whether they may at all.
    pub enabled: bool,
    /// Days of the week, 1 for Monday.
    pub days: Vec<u8>,
    /// Minutes of the day, from and to; a span over midnight ends on the next day.
    pub hours: (u16, u16),
    /// The account's time, in minutes east of UTC.
    pub utc_offset: i16,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            version: 0,
            webhooks: Vec::new(),
            safe_urls: SafeUrls::default(),
            callback: Callback::default(),
            limits: Limits { visitor_messages: VISITOR_LIMIT, bot_requests: BOT_LIMIT, channel_chats: CHANNEL_LIMIT },
            idle_close: Some(DEFAULT_IDLE_CLOSE),
            retention_days: None,
        }
    }
}

impl Default for Callback {
    fn default() -> Self {
        Self { enabled: false, days: (1..=7).collect(), hours: (0, 24 * 60), utc_offset: 0 }
    }
}

impl Settings {
    /// Whether a chat whose last message or transition was then has rested too long.
    pub fn is_idle(&self, updated_at: Timestamp, now: Timestamp) -> bool {
        self.idle_close.is_some_and(|limit| now.since(updated_at) >= limit)
    }

    /// When to look next whether a chat has rested too long.
    pub fn next_idle_check(&self, updated_at: Timestamp, now: Timestamp) -> Timestamp {
        let latest = now.after(MAX_IDLE_CHECK_INTERVAL);
        self.idle_close.map_or(latest, |limit| updated_at.after(limit).min(latest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: u64 = 60_000;

    fn closing_after(minutes: Option<u64>) -> Settings {
        Settings { idle_close: minutes.map(|minutes| Duration::from_secs(minutes * 60)), ..Settings::default() }
    }

    #[test]
    fn a_chat_is_idle_from_the_limit_on() {
        let table = [(Some(10), 9, false), (Some(10), 10, true), (Some(10), 99, true), (None, 99_999, false)];
        for (limit, rested, expected) in table {
            let is_idle = closing_after(limit).is_idle(Timestamp(MINUTE), Timestamp(MINUTE * (rested + 1)));
            assert_eq!(is_idle, expected, "{limit:?} {rested}");
        }
    }

    #[test]
    fn the_next_look_is_when_the_limit_ends_but_within_an_hour() {
        let table = [(Some(10), 4, 10), (Some(600), 4, 64), (None, 4, 64)];
        for (limit, now, expected) in table {
            let next = closing_after(limit).next_idle_check(Timestamp(0), Timestamp(now * MINUTE));
            assert_eq!(next, Timestamp(expected * MINUTE), "{limit:?}");
        }
    }
}
