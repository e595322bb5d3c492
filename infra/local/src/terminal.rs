//! Lines for the person who started the host. When the terminal is gone, nobody is left to tell.

use std::io::Write;

/// A line on stdout.
pub fn say(line: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}

/// A line on stderr, with our name before it.
pub fn complain(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "switchboard: {line}");
}
