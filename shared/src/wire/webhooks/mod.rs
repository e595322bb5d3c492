//! Webhooks (specification, part C).

pub(crate) mod cloud_event;
pub mod thin_event;
pub mod webhook_api;
pub mod webhook_event;
pub mod webhook_response;
pub mod webhook_sample;
