//! What a workload costs: requests counted on the local host, times list prices.
//!
//! # Layout
//! - [`count`] (`scenarios.rs`): plays every scenario on a local host; `driver.rs` makes the requests and `receiver.rs`
//!   receives the deliveries
//! - `function_usage.rs`: the host's usage counters
//! - [`Workload`]: a month of chats, from the command line
//! - [`prices`]: list prices
//! - [`report`]: the printed tables

mod driver;
mod function_usage;
mod monthly_workload;
pub mod prices;
mod receiver;
pub mod report;
mod scenarios;

pub use driver::Error;
pub use function_usage::{Usage, UsageByFunction, usage_by_function};
pub use monthly_workload::{Assumptions, Workload};
pub use scenarios::{Scenario, ScenarioUsage, count};
