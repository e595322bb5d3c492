//! Reads of several chats or of a whole chat.

pub mod chat_listing;
pub mod closed_chats;
pub mod contact_search;
pub mod panels;
pub(crate) mod recent_open_chats;
pub mod transcript;
