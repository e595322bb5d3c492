//! What the `switchboard` command adds to the host: an account for trying out the service. It uses only the public HTTP
//! API, and the host does not depend on it.
//!
//! # Layout
//! - `account.rs`: the demo account, created in the first run and restored in later runs
//! - [`bot`], [`integrator`]: the demo account's receivers, served on the host's port below `/_local/`
//! - [`welcome`]: the text that the command prints when the host is ready

mod account;
pub mod bot;
pub mod integrator;
pub mod welcome;

pub use self::account::{DemoAccount, Error, log_in, prepare};
