//! Counts requests in memory, between two writes to the shared count in the table.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// While at least this number of windows are in memory, each request also removes the windows that have ended.
const MAX_CALLERS: usize = 1_000;

/// The current window of each caller. A caller is whoever one of the limits in `request_rate_limit` applies to, for
/// example a bot, or an agent in one chat.
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
    pub(super) fn count_request(&self, caller: &str, number: u64) -> LocalRateWindow {
        let mut windows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if windows.len() >= MAX_CALLERS {
            windows.retain(|_, window| window.number == number);
        }
        let window = windows.entry(caller.to_owned()).or_default();
        if window.number != number {
            *window = LocalRateWindow { number, ..LocalRateWindow::default() };
        }
        window.local_count += 1;
        *window
    }

    /// Returns how many requests of the caller are known to this process in this window.
    pub(super) fn counted(&self, caller: &str, number: u64) -> u64 {
        let windows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let window = windows.get(caller).filter(|window| window.number == number);
        window.map_or(0, |window| window.shared_count + window.local_count)
    }

    pub(super) fn replace(&self, caller: &str, window: LocalRateWindow) {
        let mut windows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        windows.insert(caller.to_owned(), window);
    }
}
