//! Sends timeline entries to receivers, with one engine for integrators, bots and webhooks (docs/design.md).

pub mod bot_receiver;
pub mod engine;
mod guarded_dns_resolver;
pub mod integrator_receiver;
pub mod outbound_client;
mod signature;
pub mod webhook_receiver;
