//! Bot connections, and how the service judges what a bot does.

pub mod bot;
pub mod bot_activity;
pub mod bot_reaction;
pub mod bot_settings;
pub mod human_words;
pub mod turn;
