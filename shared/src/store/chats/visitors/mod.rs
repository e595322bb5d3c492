//! Items of visitors, and their rate limits.

pub(crate) mod merge_write;
pub mod new_chat_rate_limit;
pub(crate) mod visitor_data_size;
pub(crate) mod visitor_message_rate;
pub mod visitor_updates;
pub mod widget_visitors;
