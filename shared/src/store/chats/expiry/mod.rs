//! What ends by time: idle chats, retention, erasure.

pub(crate) mod erasure;
pub mod idle_check;
pub(crate) mod retention;
pub mod retention_passes;
pub mod visitor_expiry;
