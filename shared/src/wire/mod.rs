//! The JSON bodies of requests and responses: this module parses and validates the ones that the service receives, and
//! builds the ones that it sends. For integrators, bot providers and webhooks, the bodies follow the specification; for
//! the service's own endpoints, they follow docs/openapi.json. Twilio sends forms and expects XML. The module also
//! parses query parameters, and parses and builds socket frames and queue tasks.

use crate::contract::Operation;

pub mod admin;
pub mod agent;
pub mod bots;
pub mod calls;
pub mod channels;
pub mod email_event;
pub mod event_feed;
pub mod fields;
pub mod files;
pub mod otlp;
pub mod push;
pub mod queue_message;
pub mod queue_task;
pub mod receiver_response;
pub mod sample_data;
pub mod sockets;
pub mod uploads;
pub mod webhooks;
pub mod widget;

/// Returns the operations that the service offers.
pub fn operations() -> Vec<Operation> {
    let areas = [
        files::operations(),
        channels::channel_api::operations(),
        event_feed::operations(),
        channels::visitor_report::operations(),
        bots::bot_api::operations(),
        calls::call_gateway::operations(),
        admin::operations(),
        agent::operations(),
        uploads::operations(),
        widget::operations(),
    ];
    areas.into_iter().flatten().collect()
}

/// Returns the requests that the service sends to customers' servers.
pub fn outgoing_operations() -> Vec<Operation> {
    let targets = [
        channels::channel_api::outgoing_operations(),
        bots::bot_api::outgoing_operations(),
        webhooks::webhook_api::outgoing_operations(),
        calls::call_gateway::outgoing_operations(),
    ];
    targets.into_iter().flatten().collect()
}
