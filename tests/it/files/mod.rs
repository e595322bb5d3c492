//! Uploaded files: who sends them, who sees them, and what becomes of them.

mod erasure_and_expiry;
mod hostile_files;
mod uploads;
