//! Rate limits: the maximum number of messages, requests, chats or callbacks in a window of time (docs/decisions.md,
//! General).

use std::time::Duration;

use crate::domain::timestamp::Timestamp;

/// The default limits for accounts that have not set their own.
pub const DEFAULT_VISITOR_MESSAGES_PER_WINDOW: u32 = 30;
pub const DEFAULT_BOT_REQUESTS_PER_WINDOW: u64 = 300;
pub const DEFAULT_CHANNEL_CHATS_PER_WINDOW: u32 = 300;
/// An agent needs one ticket for each page that is open in a browser, and another one after each interruption of the
/// connection.
pub const MAX_SOCKET_TICKETS_PER_WINDOW: u64 = 30;
/// The limit for the requests from one network address to one widget. It is lower than a channel's limit on new chats,
/// so that a single address cannot use up that limit.
pub const MAX_WIDGET_REQUESTS_PER_WINDOW: u64 = 120;
/// The limit for the frames that a widget's visitor sends through sockets.
pub const MAX_VISITOR_FRAMES_PER_WINDOW: u64 = 30;
pub const RATE_WINDOW: Duration = Duration::from_secs(10);
/// The limit for the callbacks that one network can order from one widget in an hour. Every callback costs the account
/// money and an agent's time.
pub const MAX_CALLBACKS_PER_HOUR: u64 = 10;
pub const CALLBACK_WINDOW: Duration = Duration::from_secs(3600);

/// Returns the number and the end of the fixed window of this length that contains `now`. Fixed windows start at
/// multiples of their length.
pub fn fixed_window(length: Duration, now: Timestamp) -> (u64, Timestamp) {
    let seconds = length.as_secs();
    let number = now.seconds() / seconds;
    (number, Timestamp::from_seconds((number + 1).saturating_mul(seconds)))
}

/// A rate limit window that starts with the first message after the end of the previous window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateWindow {
    pub started_at: Timestamp,
    pub count: u32,
}

impl RateWindow {
    /// Counts one more message and returns the updated window. If the limit has been reached, the message is not
    /// allowed, and the error is the time until the next message is allowed.
    pub fn count_message(self, limit: u32, now: Timestamp) -> Result<Self, Duration> {
        let age = now.since(self.started_at);
        if age >= RATE_WINDOW {
            Ok(Self { started_at: now, count: 1 })
        } else if self.count < limit {
            Ok(Self { count: self.count + 1, ..self })
        } else {
            Err(RATE_WINDOW.saturating_sub(age))
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn limit_applies_until_the_window_ends() {
        let mut window = RateWindow::default();
        for at in 0..30 {
            window = window.count_message(DEFAULT_VISITOR_MESSAGES_PER_WINDOW, Timestamp(100_000 + at)).unwrap();
        }
        assert_eq!(
            window.count_message(DEFAULT_VISITOR_MESSAGES_PER_WINDOW, Timestamp(104_000)),
            Err(Duration::from_secs(6))
        );
        assert_eq!(window.count_message(DEFAULT_VISITOR_MESSAGES_PER_WINDOW, Timestamp(110_000)).unwrap().count, 1);
    }
}
