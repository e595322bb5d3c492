//! The JSON bodies of the specification and of our own endpoints: reading with validation, and writing.

pub mod admin;
pub mod agent;
pub mod agent_message;
pub mod answer;
pub mod bot;
pub mod content;
pub mod fields;
pub mod json;
pub mod ledger;
pub mod rules;
pub mod settings;
pub mod visitor_message;
pub mod webhook;
pub mod webhook_sample;
