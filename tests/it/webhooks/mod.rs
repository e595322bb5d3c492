//! Webhooks: their settings, events and responses.

mod fetched_events;
mod message_events;
mod webhook_aws_targets;
mod webhook_events;
mod webhook_formats;
mod webhook_offline_messages_and_ratings;
mod webhook_responses;
mod webhook_settings;
mod webhook_signatures;
