//! The JSON bodies of requests and responses: this module parses and validates the ones that the service receives, and
//! builds the ones that it sends. For integrators, bot providers and webhooks, the bodies follow the specification; for
//! the service's own endpoints, they follow docs/openapi.json.

pub mod admin;
pub mod agent;
pub mod bot;
pub mod bot_error;
pub mod channel_request;
pub mod channel_response;
pub mod delivery_log;
pub mod json_fields;
mod json_object;
pub mod json_parser;
pub mod message_content;
pub mod queue_task;
pub mod receiver_response;
pub mod settings;
pub mod visitor_message;
pub mod webhook;
pub mod webhook_sample;
pub mod widget_triggers;
