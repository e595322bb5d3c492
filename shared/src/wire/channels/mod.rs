//! The channel API (specification, part A).

pub mod channel_api;
pub mod integrator_request;
pub mod integrator_response;
pub mod message_content;
pub mod visitor_message;
pub mod visitor_report;
