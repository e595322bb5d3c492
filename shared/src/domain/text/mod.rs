//! What the service recognizes in texts that people write.

pub(crate) mod digits;
pub(crate) mod email_address;
pub mod link_detection;
pub mod link_filter;
