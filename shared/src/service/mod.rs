//! Use cases that are too long for a handler, or that several functions share.

pub mod account_settings;
pub mod auth;
pub mod backlog;
pub mod chat_access;
pub mod chat_assigned_notification;
pub mod delivery_log;
pub mod events_from_bots;
pub mod retention;
