//! Bots: their connections, conversations and failures.

mod bot_activity;
mod bot_context;
mod bot_conversation;
pub mod bot_endpoint;
mod bot_failure;
mod bot_handover;
mod bot_label;
mod bot_management;
mod bursts;
mod standby;
mod turns;
