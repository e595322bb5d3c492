//! Raises this process's limit on open files and sockets. The host opens about six per function process and one
//! per WebSocket, but some systems start programs with a limit of 256.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// This is the maximum on macOS, and more than all functions and thousands of WebSockets need at once.
const MIN_OPEN_FILES: u64 = 10_240;

/// Raises the limit for this process and its children to `MIN_OPEN_FILES`, or as close to it as the system allows. A
/// failure is ignored, because a low limit is enough for a small number of functions.
pub fn raise_limit() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let required = maximum.map_or(MIN_OPEN_FILES, |maximum| maximum.min(MIN_OPEN_FILES));
    if current.is_some_and(|current| current < required) {
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(required), maximum });
    }
}
