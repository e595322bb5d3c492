//! The JSON bodies of requests and responses: this module parses and validates the ones that the service receives, and
//! builds the ones that it sends. For integrators, bot providers and webhooks, the bodies follow the specification; for
//! the service's own endpoints, they follow docs/openapi.json. Twilio sends forms and expects XML. The module also
//! parses query parameters, and parses and builds socket frames and queue tasks.

use crate::contract::Operation;

pub mod admin;
pub mod agent;
pub mod audit;
pub mod bot;
pub mod bot_api;
pub mod bot_error;
pub mod bot_event;
pub mod bot_sample;
pub mod call_gateway;
pub mod canned_replies;
pub mod channel_api;
pub mod chat_export;
mod contacts_form;
pub mod delivery_log;
pub mod described;
pub mod files;
pub mod integrator_request;
pub mod integrator_response;
pub mod json_fields;
pub mod json_parser;
pub mod message_content;
pub mod push;
pub(crate) mod query_parameters;
pub mod queue_task;
pub mod reader;
pub mod receiver_response;
pub mod receiver_test;
pub mod report;
pub mod sample_data;
pub mod settings;
pub mod signing_secret;
pub mod socket_api;
pub mod socket_frame;
pub mod telephony_settings;
pub mod twilio;
pub mod urls;
pub mod values;
pub mod visitor_data;
pub mod visitor_message;
pub mod webhook_api;
pub mod webhook_event;
pub mod webhook_response;
pub mod webhook_sample;
pub mod webhook_settings;
pub mod widget;
pub mod widget_settings;
pub mod widget_triggers;

/// Returns the operations that the service offers.
pub fn operations() -> Vec<Operation> {
    let areas = [
        files::operations(),
        channel_api::operations(),
        bot_api::operations(),
        call_gateway::operations(),
        admin::operations(),
        canned_replies::operations(),
        agent::operations(),
        audit::operations(),
        settings::operations(),
        webhook_settings::operations(),
        telephony_settings::operations(),
        report::operations(),
        visitor_data::operations(),
        delivery_log::operations(),
        chat_export::operations(),
        widget::operations(),
    ];
    areas.into_iter().flatten().collect()
}

/// Returns the requests that the service sends to customers' servers.
pub fn outgoing_operations() -> Vec<Operation> {
    let targets = [
        channel_api::outgoing_operations(),
        bot_api::outgoing_operations(),
        webhook_api::outgoing_operations(),
        call_gateway::outgoing_operations(),
    ];
    targets.into_iter().flatten().collect()
}
