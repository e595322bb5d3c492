//! The `switchboard` command: its arguments, the ready file, and the limit on open files.

pub mod arguments;
pub mod open_file_limit;
pub mod ready_file;
