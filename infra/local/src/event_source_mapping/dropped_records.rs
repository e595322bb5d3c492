//! Logs how many records a function never processed. Writes at most one line a second, because a failing function can
//! lose thousands of records.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::log::LogSink;

const LOG_INTERVAL: Duration = Duration::from_secs(1);

pub(super) struct DroppedRecordsLog {
    function: String,
    table: String,
    log: LogSink,
    counts: Mutex<Counts>,
}

#[derive(Default)]
struct Counts {
    dropped: usize,
    last_logged: Option<Instant>,
}

impl DroppedRecordsLog {
    pub fn new(function: &str, table: &str, log: LogSink) -> Self {
        Self { function: function.to_owned(), table: table.to_owned(), log, counts: Mutex::default() }
    }

    /// Counts dropped records. Logs how many have been dropped since the start, with the reason for the latest ones,
    /// unless a line was logged within the last second.
    pub fn add(&self, count: usize, reason: &str) {
        if count == 0 {
            return;
        }
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.dropped += count;
        if counts.last_logged.is_some_and(|at| at.elapsed() < LOG_INTERVAL) {
            return;
        }
        counts.last_logged = Some(Instant::now());
        let line = format!("{} records of {} dropped since the start; {reason}", counts.dropped, self.table);
        self.log.line(&self.function, &line);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn at_most_one_line_a_second_is_logged() {
        let lines = Arc::default();
        let dropped = DroppedRecordsLog::new("f", "Items", LogSink::Memory(Arc::clone(&lines)));
        dropped.add(0, "reason");
        for count in [3, 4] {
            dropped.add(count, "reason");
        }
        dropped.counts.lock().unwrap().last_logged = Some(Instant::now() - LOG_INTERVAL);
        dropped.add(1, "reason");
        let lines: Vec<_> = lines.lock().unwrap().iter().map(|line| line.line.clone()).collect();
        let expected = [3, 8].map(|count| format!("{count} records of Items dropped since the start; reason"));
        assert_eq!(lines, expected);
    }
}
