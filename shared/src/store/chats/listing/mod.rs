//! Reads of several chats or of a whole chat, the side panel of a chat, and the chats that a process remembers.

pub mod chat_listing;
pub mod chat_queue;
pub mod closed_chats;
pub mod contact_search;
mod missed_messages;
pub mod panels;
pub(crate) mod recent_open_chats;
pub mod transcript;
