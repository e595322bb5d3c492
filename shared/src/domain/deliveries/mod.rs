//! Deliveries to customers' servers: when they are tried, and how they end.

pub mod delivery;
pub mod delivery_search_and_replay;
pub mod retry_schedule;
pub mod ssrf_guard;
pub mod webhook;
pub mod webhook_event;
