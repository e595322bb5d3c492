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
//! - [`dynamo`], [`s3`], [`sqs`]: the services that functions call
//! - `ses/`: e-mails, which are shown instead of sent
//! - `customer_aws/`: the AWS accounts of customers, to which webhooks send events
//! - [`faults`]: injects faults into the functions and services above for tests, simulates an outage of SQS, and delays
//!   requests as the network does
//! - [`clock`]: the time that all of these follow, which tests advance
//! - `activity.rs`: whether the host is processing messages, table changes or schedules
//! - `usage.rs`, [`log`]: the functions' usage counts and log output
//! - [`command`], [`cargo_build`], [`file_store`], [`terminal`]: the `switchboard` command
//! - [`demo`], [`api_client`]: the demo account of that command
//! - `aws/`, `http/`, [`filter_pattern`], [`random_and_digest`]: what these have in common

mod activity;
pub mod api_client;
mod aws;
pub mod cargo_build;
pub mod clock;
pub mod command;
mod customer_aws;
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
mod http;
pub mod lambda;
pub mod log;
mod options;
pub mod random_and_digest;
mod reservation;
pub mod s3;
mod schedule;
mod ses;
pub mod sqs;
pub mod template;
pub mod terminal;
mod usage;
mod web_sockets;

pub use aws::iam::{AccessDenied, Permission};
pub use error::Error;
pub use host::{Busy, Host};
pub use log::{LogLine, LogSink};
pub use options::{HostStorage, Options};
pub use reservation::Reservation;
pub use web_sockets::SocketTimeouts;
