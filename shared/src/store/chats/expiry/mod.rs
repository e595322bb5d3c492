//! How chats and the data of visitors end: idle chats, retention, and erasure on request.

pub(crate) mod erasure;
pub mod idle_check;
pub(crate) mod retention;
pub mod retention_passes;
pub mod visitor_expiry;
