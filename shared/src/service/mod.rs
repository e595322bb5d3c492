//! Use cases that are too long for a handler, or that several functions share.

pub mod account_settings;
pub mod auth;
pub mod backlog;
pub mod bot_events;
pub mod chat_access;
pub mod crm_assignment;
pub mod delivery_log;
pub mod retention;
