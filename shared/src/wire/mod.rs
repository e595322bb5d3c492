//! The JSON bodies of the specification and of our own endpoints: reading with validation, and writing.

pub mod admin;
pub mod agent;
pub mod agent_message;
pub mod bot;
pub mod channel_response;
pub mod content;
pub mod delivery_log;
pub mod fields;
pub mod json;
pub mod receiver_answer;
pub mod settings;
pub mod task;
pub mod visitor_message;
pub mod webhook;
pub mod webhook_sample;
pub mod widget_triggers;
