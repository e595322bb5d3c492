//! The local host: runs the functions of `template.yaml` on one machine, without AWS.
//!
//! # Layout
//! - `host.rs`, `options.rs`, `error.rs`: [`Host`] starts and connects the services below; [`Options`] contains its
//!   settings, and [`Error`] is the reason why it cannot start or serve a request
//! - `reservation.rs`, `database_files.rs`: the ports and the data folder, reserved before the host starts
//! - [`template`]: reads functions, routes, queues, tables and policies from the template
//! - [`lambda`]: runs the functions as processes that use Lambda's Runtime API
//! - `gateway/`, `web_sockets/`, `event_source_mapping/`, `schedule.rs`: invoke the functions for HTTP requests, socket
//!   messages, queued messages, table changes, and schedules
//! - [`dynamo`], [`sqs`], `sqs_proxy.rs`: the services that functions call; `sqs_outage.rs` simulates an outage for
//!   tests, and `store_latency.rs` simulates the network latency of requests
//! - [`faults`]: injects faults into the functions and services above for tests
//! - `iam.rs`, `usage.rs`, [`log`]: the functions' permissions, usage counts and log output
//! - [`arguments`], [`cargo_build`], [`file_store`], [`ready_file`], [`open_file_limit`], [`terminal`]: the
//!   `switchboard` command
//! - [`demo`], [`api_client`]: the demo account of that command
//! - `access_keys.rs`, `arn.rs`, `aws_operation.rs`, [`filter_pattern`], `http_server.rs`, `loopback_host.rs`,
//!   `request_text.rs`, `service_endpoints.rs`, `time_format.rs`, [`random_and_digest`]: helpers

mod access_keys;
pub mod api_client;
pub mod arguments;
mod arn;
mod aws_operation;
pub mod cargo_build;
mod database_files;
pub mod demo;
pub mod dynamo;
mod error;
mod event_source_mapping;
pub mod faults;
pub mod file_store;
pub mod filter_pattern;
mod gateway;
mod host;
mod http_server;
mod iam;
pub mod lambda;
pub mod log;
mod loopback_host;
pub mod open_file_limit;
mod options;
pub mod random_and_digest;
pub mod ready_file;
mod request_text;
mod reservation;
mod schedule;
mod service_endpoints;
pub mod sqs;
mod sqs_outage;
mod sqs_proxy;
mod store_latency;
pub mod template;
pub mod terminal;
mod time_format;
mod usage;
mod web_sockets;

pub use error::Error;
pub use host::Host;
pub use iam::{AccessDenied, Permission};
pub use log::{LogLine, LogSink};
pub use options::{HostStorage, Options};
pub use reservation::Reservation;
pub use web_sockets::SocketTimeouts;
