//! What the command `switchboard` adds to the host: an account to try everything with. It uses the service's public HTTP
//! API alone, and the host knows nothing of it.
//!
//! # Layout
//! - `account.rs`: the demo account, created at the first run and found again at the next
//! - [`bot`], [`integrator`]: its receivers, served on the host's port below `/_local/`
//! - [`welcome`]: the text on the terminal

mod account;
pub mod bot;
pub mod integrator;
pub mod welcome;

pub use self::account::{Demo, Error, log_in, prepare};
