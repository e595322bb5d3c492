//! The local host: runs the functions of `template.yaml` on one machine, without AWS.
//!
//! # Layout
//! - [`Host`] (`host.rs`): puts everything together; [`Options`] is all it needs to know, [`Claim`] what it needs first
//! - [`template`]: reads the template, the only list of functions, routes, queues and tables
//! - [`lambda`]: runs the functions as processes that speak the Runtime API
//! - `gateway/`, `mappings.rs`, `schedule.rs`: what calls them: HTTP, queues, clocks
//! - [`dynamo`], [`sqs`] behind `queue_proxy.rs`: what they call; `outage.rs` lets sends fail, when a test wants it
//! - `permission.rs`, `usage.rs`, [`log`]: what they may do, what they use and what they say
//! - [`arguments`], [`builder`], [`home`], [`public_api`], [`ready`], [`open_files`], [`terminal`]: the command `switchboard`
//! - [`demo`]: the demo account that the command adds: its receivers and what the terminal says

pub mod arguments;
pub mod builder;
mod claim;
mod clock;
mod data;
pub mod demo;
pub mod dynamo;
mod endpoints;
mod error;
mod gateway;
pub mod home;
mod host;
mod identity;
pub mod lambda;
pub mod log;
mod mappings;
pub mod open_files;
mod operation;
mod options;
mod outage;
mod permission;
pub mod public_api;
mod queue_proxy;
pub mod ready;
mod schedule;
mod serve;
pub mod sqs;
pub mod template;
pub mod terminal;
mod usage;

pub use claim::Claim;
pub use error::Error;
pub use host::Host;
pub use log::{LogLine, LogSink};
pub use options::{Options, Storage};
pub use permission::{Denied, Permission};
