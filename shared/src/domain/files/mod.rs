//! Files that agents, visitors and bots upload. The browser sends a file to the bucket itself; see
//! `docs/design.md`, Files.

pub mod file_link;
pub mod file_name;
pub mod file_settings;
pub mod file_type;
pub mod upload;
