//! Journeys through the real functions on the local host, with real receivers.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod client;
mod contract;
mod harness;
mod hook;
mod provider;
mod receiver;
mod turns;
mod wait;

mod admin;
mod agents;
mod alarms;
mod bad_input;
mod bot;
mod bot_failure;
mod bot_input;
mod channel;
mod command;
mod console;
mod contention;
mod cost;
mod crash;
mod delivery;
mod department;
mod events;
mod examples;
mod idempotency;
mod inbound;
mod keeping;
mod ledger;
mod login;
mod observed;
mod outage;
mod overload;
mod security;
mod settings;
mod sweep;
mod template;
mod visibility;
mod visitor;
mod webhook;
mod webhook_answers;
mod webhook_other;
mod webhook_settings;
