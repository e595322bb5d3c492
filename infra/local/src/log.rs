//! Where the output of the functions goes, a line at a time.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Deserialize;

/// A line that a function wrote, or that the host says about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// The function's name.
    pub function: String,
    /// Without its line break.
    pub line: String,
}

/// Where lines go. A clone is the same place.
#[derive(Debug, Clone, Default)]
pub enum LogSink {
    /// Every line to stderr, with the function's name before it.
    #[default]
    Stderr,
    /// As `Stderr`, without what the functions log as INFO, DEBUG or TRACE.
    Problems,
    /// Nowhere.
    Silent,
    /// Kept, for tests to read.
    Memory(Arc<Mutex<Vec<LogLine>>>),
}

/// The part of a function's JSON log line that counts here.
#[derive(Deserialize)]
struct Level<'l> {
    level: &'l str,
}

impl LogSink {
    /// Takes one line of one function.
    pub fn line(&self, function: &str, line: &str) {
        match self {
            Self::Stderr => print(function, line),
            Self::Problems if is_chatter(line) => {}
            Self::Problems => print(function, line),
            Self::Silent => {}
            Self::Memory(lines) => lines
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(LogLine { function: function.to_owned(), line: line.to_owned() }),
        }
    }
}

/// One write a line, so that lines of two processes do not mix. Nobody is left to tell when stderr is closed.
fn print(function: &str, line: &str) {
    let _ = std::io::stderr().lock().write_all(format!("{function}: {line}\n").as_bytes());
}

fn is_chatter(line: &str) -> bool {
    let level = serde_json::from_str::<Level<'_>>(line);
    level.is_ok_and(|line| matches!(line.level, "INFO" | "DEBUG" | "TRACE"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_leave_out_only_what_is_known_to_be_harmless() {
        for (line, chatter) in [
            (r#"{"level":"INFO","message":"sent"}"#, true),
            (r#"{"message":"sent","level":"DEBUG"}"#, true),
            (r#"{"_aws":{"Timestamp":1,"CloudWatchMetrics":[]},"level":"INFO","Deliveries":1}"#, true),
            (r#"{"level":"WARN","message":"slow"}"#, false),
            ("thread 'main' panicked at src/main.rs", false),
            ("{}", false),
        ] {
            assert_eq!(is_chatter(line), chatter, "{line}");
        }
    }
}
