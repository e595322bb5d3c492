//! The rules: what a chat is, who owns it, when a delivery is tried. Pure; time is an argument.

pub mod account;
pub mod bot;
pub mod call;
pub mod channel;
pub mod chat;
pub mod content;
pub mod delivery;
pub mod department;
pub mod entry;
pub mod ledger;
pub mod link;
pub mod login_limit;
pub mod message_id;
pub mod ownership;
pub mod panel;
pub mod presence;
pub mod rate;
pub mod retry;
pub mod rotation;
pub mod safe_url;
pub mod settings;
pub mod timestamp;
pub mod visibility;
pub mod visitor;
pub mod webhook;
