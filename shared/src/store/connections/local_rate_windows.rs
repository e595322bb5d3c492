//! Counts requests from bots in memory, between two writes to the shared count in the table.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Each bot's current window.
#[derive(Clone, Default)]
pub(super) struct LocalRateWindows(Arc<Mutex<HashMap<String, LocalRateWindow>>>);

#[derive(Clone, Copy, Default)]
pub(super) struct LocalRateWindow {
    pub number: u64,
    /// The shared count, as returned by this process's last write.
    pub shared_count: u64,
    /// The number of requests that this process has counted since that write.
    pub local_count: u64,
}

impl LocalRateWindows {
    /// Counts one request from a bot in the window with this number, and returns the updated window.
    pub(super) fn count_request(&self, bot_id: &str, number: u64) -> LocalRateWindow {
        let mut windows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let window = windows.entry(bot_id.to_owned()).or_default();
        if window.number != number {
            *window = LocalRateWindow { number, ..LocalRateWindow::default() };
        }
        window.local_count += 1;
        *window
    }

    pub(super) fn replace(&self, bot_id: &str, window: LocalRateWindow) {
        let mut windows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        windows.insert(bot_id.to_owned(), window);
    }
}
