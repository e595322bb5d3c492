//! API channels: their settings, and the messages that they receive.

mod channel;
mod channel_endpoint_rotation;
mod channel_management;
mod channel_status;
mod fetched_messages;
mod idempotency;
mod inbound_messages;
pub mod input_validation;
mod message_edits;
mod message_to_visitor;
mod signing_secret_rotation;
mod visitor_reports;
mod write_contention;
