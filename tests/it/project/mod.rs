//! The template, the documents, the logs and the local host itself.

mod alarms;
mod costs_page;
mod documentation;
mod examples;
pub mod local_host_command;
mod logs_and_metrics;
pub mod openapi_contract;
mod partner_check;
pub mod sam_template;
pub mod sample_events;
