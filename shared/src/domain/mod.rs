//! The rules: what a chat is, who owns it, when a delivery is tried. Pure; time is an argument.

pub mod account;
pub mod bot;
pub mod call;
pub mod channel;
pub mod chat;
pub mod chat_state;
pub mod content;
pub mod delivery;
pub mod delivery_log;
pub mod department;
pub mod entry;
pub mod link;
pub mod link_filter;
pub mod login_limit;
pub mod message_id;
pub mod panel;
pub mod presence;
pub mod rate;
pub mod retry;
pub mod rotation;
pub mod settings;
pub mod target_guard;
pub mod timestamp;
pub mod visibility;
pub mod visitor;
pub mod webhook;
