//! Use cases that need more than the few lines of one handler.

pub mod account_settings;
pub mod auth;
pub mod backlog;
pub mod bot_events;
pub mod chat_access;
pub mod delivery_log;
pub mod notifications;
pub mod retention;
