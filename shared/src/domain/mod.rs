//! The business rules, written as plain types and pure functions. They do not depend on AWS, HTTP or serde, and they
//! always receive the current time as an argument.

pub mod account_settings;
pub mod agent;
pub mod agent_presence;
pub mod bot;
pub mod bot_reaction;
pub mod channel;
pub mod chat;
pub mod chat_side_panel;
pub mod chat_state;
pub mod chat_visibility;
pub mod delivery;
pub mod delivery_search_and_replay;
pub mod department;
pub mod idempotency_key;
pub mod link_detection;
pub mod link_filter;
pub mod login_limit;
pub mod message_content;
pub mod message_id;
pub mod phone_call;
pub mod rate_limit;
pub mod retry_schedule;
pub mod secret_rotation;
pub mod sha256;
pub mod ssrf_guard;
pub mod timeline_entry;
pub mod timestamp;
pub mod visitor;
pub mod webhook;
pub mod webhook_event;
