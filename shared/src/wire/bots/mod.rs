//! The Bot API (specification, part B).

pub mod bot;
pub mod bot_api;
pub mod bot_error;
pub mod bot_event;
pub mod bot_sample;
pub mod bot_transcript;
pub mod client_message_sender;
