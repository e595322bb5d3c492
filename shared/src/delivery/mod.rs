//! Sends timeline entries to receivers, and frames to open sockets. One engine sends the entries to integrators, bots,
//! webhooks and telephony providers (docs/design.md).

pub(crate) mod aws_message;
pub mod aws_target_receiver;
pub mod bot_receiver;
pub mod engine;
pub mod event_feed;
pub mod fetching_receiver;
mod guarded_dns_resolver;
pub mod integrator_receiver;
pub mod late_delivery;
pub mod outbound_client;
mod rehearsal;
pub(crate) mod server_check;
pub(crate) mod signature;
pub(crate) mod signed_post;
pub mod socket_gateway;
pub mod telephony;
pub mod telephony_receiver;
pub(crate) mod web_push;
pub mod webhook_receiver;
pub(crate) mod webhook_request;
