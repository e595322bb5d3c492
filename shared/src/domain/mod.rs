//! The business rules, written as plain types and pure functions. They do not depend on AWS, HTTP or serde, and they
//! always receive the current time as an argument.

pub mod accounts;
pub mod bots;
pub mod business_hours;
pub mod calls;
pub mod channels;
pub mod chats;
pub mod deliveries;
pub mod email;
pub mod files;
pub mod list_change;
pub mod named;
pub mod rate_limit;
pub mod report;
pub mod sha256;
pub mod socket;
pub mod text;
pub mod time_zone;
pub mod timestamp;
pub mod trace_context;
pub mod visitors;
