//! Prints lines to the user's terminal. Errors are ignored, for example if the terminal is closed.

use std::io::Write;

/// Prints a line to stdout.
pub fn print_line(line: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}

/// Prints a line to stderr, after the name of the program.
pub fn print_error(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "switchboard: {line}");
}
