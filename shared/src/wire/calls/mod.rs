//! What a gateway of calls and Twilio send and receive.

pub mod call_gateway;
pub mod twilio;
