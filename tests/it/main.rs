//! End-to-end tests. Every test calls the public API of the real functions, which run on the local host or on a
//! deployed stack. The tests start the receivers that the functions call: integrators, bot providers and webhooks.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod support;

mod account_isolation;
mod account_settings;
mod admin_management;
mod agent_login_presence_and_lists;
mod agent_management;
mod alarms;
mod authentication;
mod bot_api;
mod bot_conversation;
mod bot_failure;
mod channel;
mod channel_endpoint_rotation;
mod channel_management;
mod chat_visibility;
mod console;
mod costs_page;
mod crash_recovery;
mod delivery_log;
mod delivery_sweep;
mod departments;
mod examples;
mod hanging_receivers;
mod idempotency;
mod inbound_messages;
mod input_validation;
mod integrator_delivery;
mod local_host_command;
mod login_and_logout;
mod logs_and_metrics;
mod openapi_contract;
mod queue_outage;
mod receiver_addresses;
mod retention_and_erasure;
mod sam_template;
mod sample_events;
mod visitor_profile;
mod webhook_events;
mod webhook_phone_calls_and_ratings;
mod webhook_responses;
mod webhook_settings;
mod write_contention;
