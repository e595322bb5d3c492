//! What a bot does.

pub mod close_chat;
pub mod hand_over_chat;
pub mod receive_bot_message;
pub mod return_chat;
