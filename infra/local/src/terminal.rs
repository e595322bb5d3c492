//! Prints lines to the terminal of the user. Errors of a closed terminal are ignored.

use std::io::Write;

/// Prints to stdout.
pub fn print_line(line: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}

/// Prints to stderr, after the name of the program.
pub fn print_error(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "switchboard: {line}");
}
