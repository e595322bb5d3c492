//! The ways an invocation fails.

use std::process::ExitStatus;
use std::time::Duration;

/// Why an invocation brought no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The function answered with an error.
    #[error("{kind}: {message}")]
    Function {
        /// `errorType`.
        kind: String,
        /// `errorMessage`.
        message: String,
    },
    /// The function took longer than its time-out, and was killed.
    #[error("Task timed out after {:.2} seconds", .0.as_secs_f64())]
    TimedOut(Duration),
    /// The process ended while it worked.
    #[error("the process ended before it answered ({0})")]
    Crashed(Ended),
    /// The process asked for more work without answering.
    #[error("the function asked for the next event without answering")]
    NoAnswer,
    /// The process ended before it asked for work.
    #[error("the process ended before it asked for work ({0})")]
    InitCrashed(Ended),
    /// The function reported that it cannot start.
    #[error("the function cannot start: {kind}: {message}")]
    Init {
        /// `errorType`.
        kind: String,
        /// `errorMessage`.
        message: String,
    },
    /// The process did not ask for work in time.
    #[error("the process did not ask for work within {} seconds", .0.as_secs())]
    InitTimedOut(Duration),
    /// The binary cannot be run.
    #[error("the binary cannot be run: {0}")]
    NotStarted(String),
    /// The answer is larger than Lambda allows.
    #[error("the answer has {0} bytes, Lambda allows {max}", max = super::MAX_PAYLOAD_BYTES)]
    TooLarge(usize),
    /// There is no such function.
    #[error("there is no such function")]
    Unknown,
    /// The host is stopping.
    #[error("the host is stopping")]
    Stopped,
}

/// How a process ended; the system does not always say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended(pub Option<ExitStatus>);

impl std::fmt::Display for Ended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Some(status) => status.fmt(f),
            None => f.write_str("status unknown"),
        }
    }
}
