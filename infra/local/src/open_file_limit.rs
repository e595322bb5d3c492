//! How many files and sockets a process may have open. A host holds about six for each process of a function, and some
//! systems start programs with a limit of 256.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Enough for every function at once, many times over, and what macOS allows at most.
const MIN_OPEN_FILES: u64 = 10_240;

/// Raises the limit of this process and of those that it starts, as far as the system allows. Without that the host works
/// as long as few functions do.
pub fn raise_limit() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let wanted = maximum.map_or(MIN_OPEN_FILES, |maximum| maximum.min(MIN_OPEN_FILES));
    if current.is_some_and(|current| current < wanted) {
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum });
    }
}
