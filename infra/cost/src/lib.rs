//! What a workload costs: requests counted on the local host, times list prices.
//!
//! # Layout
//! - [`count`] (`paths.rs`): plays every path on a host and reads its meter; `stage.rs`, `receiver.rs`: with what
//! - `counts.rs`: what the meter says
//! - [`Workload`]: a month of chats; [`prices`]: the list prices
//! - [`report`]: the tables

mod counts;
mod paths;
pub mod prices;
mod receiver;
pub mod report;
mod stage;
mod workload;

pub use counts::{Bill, Counts, bill};
pub use paths::{Path, Tally, count};
pub use stage::Error;
pub use workload::{Assumed, Workload};
