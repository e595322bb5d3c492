//! The reasons why an invocation or the start of a process fails.

use std::process::ExitStatus;
use std::time::Duration;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvocationError {
    /// The function reported an error for this event.
    #[error("{error_type}: {message}")]
    Function { error_type: String, message: String },
    /// The function did not respond within its timeout, or an injected crash ended the wait earlier, so its process was
    /// killed.
    #[error("Task timed out after {:.2} seconds", .0.as_secs_f64())]
    TimedOut(Duration),
    #[error("the process exited before it responded ({0})")]
    Crashed(ProcessExit),
    #[error("the function requested the next event without responding to this one")]
    NoResponse,
    #[error("the process exited before it requested an event ({0})")]
    InitCrashed(ProcessExit),
    #[error("the function failed to initialize: {error_type}: {message}")]
    InitFailed { error_type: String, message: String },
    #[error("the process did not request an event within {} seconds", .0.as_secs())]
    InitTimedOut(Duration),
    #[error("the binary cannot be run: {0}")]
    SpawnFailed(String),
    #[error("the response has {bytes} bytes; Lambda allows {max_bytes}")]
    ResponseTooLarge { bytes: usize, max_bytes: usize },
    #[error("there is no such function")]
    UnknownFunction,
    #[error("the host is stopping")]
    HostStopping,
}

/// How a process exited; `None` if the operating system did not report a status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessExit(pub Option<ExitStatus>);

impl std::fmt::Display for ProcessExit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Some(status) => status.fmt(f),
            None => f.write_str("exit status unknown"),
        }
    }
}
