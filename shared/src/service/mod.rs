//! Use cases that are too long for a handler, or that several functions share.

pub mod account_deletion;
pub mod account_work;
pub mod audit;
pub mod auth;
pub mod backlog;
pub mod bot_activity;
pub mod calls;
pub mod chat_access;
pub mod chat_changes;
pub mod chat_export;
pub mod chat_search;
pub mod delivery_log;
pub mod events_from_bots;
mod growing_answer;
pub mod push;
mod push_mode;
pub mod receiver_test;
pub mod reports;
pub mod secret_rotation;
pub mod standby;
pub mod telephony_settings;
pub mod timeline_page;
pub mod typing_notice;
pub mod visitor_data;
pub mod webhooks;
pub mod widget;
pub mod widget_history;
