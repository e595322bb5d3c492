//! Receives the functions' output line by line and prints, discards or stores it.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Deserialize;

/// One line that a function wrote, or that the host logs about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    pub function: String,
    /// The text without the line break.
    pub line: String,
}

/// The destination of log lines. Clones of `Memory` share their lines.
#[derive(Debug, Clone, Default)]
pub enum LogSink {
    /// Prints every line to stderr, after the name of the function.
    #[default]
    Stderr,
    /// Like `Stderr`, but skips JSON lines at the INFO, DEBUG and TRACE levels.
    WarningsOnly,
    Discard,
    /// Collects the lines, so that tests can read them.
    Memory(Arc<Mutex<Vec<LogLine>>>),
}

#[derive(Deserialize)]
struct JsonLogLine<'l> {
    level: &'l str,
}

impl LogSink {
    pub fn line(&self, function: &str, line: &str) {
        match self {
            Self::Stderr => print(function, line),
            Self::WarningsOnly if is_below_warn(line) => {}
            Self::WarningsOnly => print(function, line),
            Self::Discard => {}
            Self::Memory(lines) => lines
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(LogLine { function: function.to_owned(), line: line.to_owned() }),
        }
    }
}

/// Prints the line with a single write, so that lines from different processes do not interleave. An error, such as a
/// closed stderr, is ignored.
fn print(function: &str, line: &str) {
    let _ = std::io::stderr().lock().write_all(format!("{function}: {line}\n").as_bytes());
}

fn is_below_warn(line: &str) -> bool {
    let line = serde_json::from_str::<JsonLogLine<'_>>(line);
    line.is_ok_and(|line| matches!(line.level, "INFO" | "DEBUG" | "TRACE"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_only_skips_info_debug_and_trace() {
        for (line, is_skipped) in [
            (r#"{"level":"INFO","message":"sent"}"#, true),
            (r#"{"message":"sent","level":"DEBUG"}"#, true),
            (r#"{"_aws":{"Timestamp":1,"CloudWatchMetrics":[]},"level":"INFO","Deliveries":1}"#, true),
            (r#"{"level":"WARN","message":"slow"}"#, false),
            ("thread 'main' panicked at src/main.rs", false),
            ("{}", false),
        ] {
            assert_eq!(is_below_warn(line), is_skipped, "{line}");
        }
    }
}
