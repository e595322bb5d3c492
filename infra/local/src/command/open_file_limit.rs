//! Raises this process's limit on open files and sockets. The host opens about six per function process and one
//! per WebSocket, but some systems start programs with a limit of 256.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The lowest limit that is left unchanged. It is the maximum on macOS, and enough for one process of every function
/// and thousands of WebSockets.
const MIN_OPEN_FILES: u64 = 10_240;

/// Raises a lower limit for this process and its children to `MIN_OPEN_FILES`, or as close to it as the system allows.
/// A failure is ignored, because a low limit is enough for a small number of functions.
pub fn raise_limit() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let required = maximum.map_or(MIN_OPEN_FILES, |maximum| maximum.min(MIN_OPEN_FILES));
    if current.is_some_and(|current| current < required) {
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(required), maximum });
    }
}
