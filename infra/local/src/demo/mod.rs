//! Adds an account for trying out the service to the host of the `switchboard` command. This module uses only the
//! public HTTP API, and the host does not depend on this module.
//!
//! # Layout
//! - `account.rs`: the demo account, created in the first run and restored in later runs
//! - [`bot`], [`gateway`], [`integrator`], [`webhook`]: the demo account's receivers, served on the host's port below
//!   `/_local/`
//! - [`journal`]: what these receivers have received
//! - [`sign_in`]: the links that sign in the demo agent or the demo admin once
//! - [`site`]: the demo site at `/demo`
//! - `servers.rs`: the routes of all these servers
//! - `local_caller.rs`: restricts a route to programs on this machine
//! - [`welcome`]: the text that the command prints when the host is ready

mod account;
pub mod bot;
pub mod gateway;
pub mod integrator;
pub mod journal;
mod local_caller;
mod servers;
pub mod sign_in;
pub mod site;
pub mod webhook;
pub mod welcome;

pub use self::account::{DemoAccount, Error, log_in, prepare};
pub use self::servers::DemoServers;
