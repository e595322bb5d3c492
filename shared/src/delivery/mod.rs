//! Sending timeline entries to receivers: one engine for integrators, bots and webhooks (docs/design.md).

pub mod bot;
pub mod channel;
pub mod engine;
pub mod guarded_resolver;
pub mod outbound;
pub mod signature;
pub mod webhook;
