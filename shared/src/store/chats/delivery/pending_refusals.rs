//! Keeps the counts of rejected messages that this process has not written to the table yet. Delaying the writes limits
//! their number during a flood of rejected messages: for each channel, a process makes at most 20 writes in a
//! ten-second window. Further counts accumulate until the channel rejects a message in a later window.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::domain::rate_limit::{RATE_WINDOW, fixed_window};
use crate::domain::timestamp::Timestamp;

const MAX_WRITES_PER_WINDOW: usize = 20;
/// If a process has counts of this many channels and another channel rejects a message, all pending counts are
/// dropped.
const MAX_PENDING_CHANNELS: usize = 1_000;

#[derive(Default)]
pub(crate) struct PendingRefusals(Mutex<HashMap<String, PendingCounts>>);

#[derive(Default)]
struct PendingCounts {
    window: u64,
    writes: usize,
    /// The counts by reason. The number of reasons is small, because the service defines them.
    counts: HashMap<String, u64>,
}

impl PendingRefusals {
    /// Counts a rejected message. Returns the counts of the channel, by reason, that the caller must write now.
    pub fn count(&self, channel_id: &str, reason: String, now: Timestamp) -> Vec<(String, u64)> {
        let mut channels = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if channels.len() >= MAX_PENDING_CHANNELS && !channels.contains_key(channel_id) {
            channels.clear();
        }
        let pending = channels.entry(channel_id.to_owned()).or_default();
        let (window, _) = fixed_window(RATE_WINDOW, now);
        if pending.window != window {
            (pending.window, pending.writes) = (window, 0);
        }
        *pending.counts.entry(reason).or_default() += 1;
        let writes_left = MAX_WRITES_PER_WINDOW.saturating_sub(pending.writes);
        let reasons: Vec<_> = pending.counts.keys().take(writes_left).cloned().collect();
        pending.writes += reasons.len();
        reasons.into_iter().filter_map(|reason| pending.counts.remove_entry(&reason)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts_to_write(pending: &PendingRefusals, reason: &str, at: u64) -> Vec<(String, u64)> {
        pending.count("CH", reason.to_owned(), Timestamp(at))
    }

    #[test]
    fn flood_of_refusals_is_limited_to_twenty_writes_per_window() {
        let pending = PendingRefusals::default();
        let writes: usize = (0..1_000).map(|n| counts_to_write(&pending, "a", n)).map(|counts| counts.len()).sum();
        assert_eq!(writes, MAX_WRITES_PER_WINDOW);
        assert_eq!(counts_to_write(&pending, "b", 9_999), []);
        let another = pending.count("another", "a".to_owned(), Timestamp(9_999));
        assert_eq!(another, [("a".to_owned(), 1)], "limited for each channel");
        let mut later = counts_to_write(&pending, "a", 10_000);
        later.sort();
        assert_eq!(later, [("a".to_owned(), 981), ("b".to_owned(), 1)], "nothing is lost");
        assert_eq!(counts_to_write(&pending, "b", 10_001), [("b".to_owned(), 1)]);
    }
}
