//! What a bot does.

pub mod hand_over_chat;
pub mod receive_bot_message;
