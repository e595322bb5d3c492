//! The rate limits (docs/decisions.md, Everywhere): so many messages in a window.

use std::time::Duration;

use crate::domain::timestamp::Timestamp;

/// Messages a visitor may write in one window, when the account says nothing.
pub const VISITOR_LIMIT: u32 = 30;
/// Requests a bot connection may make in one window, when the account says nothing.
pub const BOT_LIMIT: u64 = 300;
/// Chats that a channel may open in one window, when the account says nothing.
pub const CHANNEL_LIMIT: u32 = 300;
/// The window's length.
pub const WINDOW: Duration = Duration::from_secs(10);

/// The window of the clock that a moment belongs to: its number and its end.
pub fn window_at(now: Timestamp) -> (u64, Timestamp) {
    let seconds = WINDOW.as_secs();
    let number = now.seconds() / seconds;
    (number, Timestamp::from_seconds((number + 1).saturating_mul(seconds)))
}

/// A window that opens with the first message after the one before it ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// When it opened.
    pub since: Timestamp,
    /// Messages taken in it.
    pub count: u32,
}

impl Window {
    /// The window after one more message, or how long to wait.
    pub fn take(self, limit: u32, now: Timestamp) -> Result<Self, Duration> {
        let age = now.since(self.since);
        if age >= WINDOW {
            Ok(Self { since: now, count: 1 })
        } else if self.count < limit {
            Ok(Self { count: self.count + 1, ..self })
        } else {
            Err(WINDOW.saturating_sub(age))
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_limit_holds_within_a_window_and_a_new_one_opens_after_it() {
        let mut window = Window::default();
        for at in 0..30 {
            window = window.take(VISITOR_LIMIT, Timestamp(100_000 + at)).unwrap();
        }
        assert_eq!(window.take(VISITOR_LIMIT, Timestamp(104_000)), Err(Duration::from_secs(6)));
        assert_eq!(window.take(VISITOR_LIMIT, Timestamp(110_000)).unwrap().count, 1);
    }
}
