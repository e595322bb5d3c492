//! What automatic assignment does to a chat.

pub mod assign_chat;
pub mod count_chat;
pub mod offer_chat;
