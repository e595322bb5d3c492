//! Deliveries to customers' servers: when they are tried, how they end, which addresses they may call, and webhooks
//! with their events.

pub mod aws_address;
pub mod delivery;
pub mod delivery_search_and_replay;
pub mod outage;
pub mod retry_schedule;
pub mod server_clause;
pub mod signing_key;
pub mod ssrf_guard;
pub mod webhook;
pub mod webhook_event;
