//! Computes what a workload costs, from requests that are counted on the local host and from list prices.
//!
//! # Layout
//! - [`count`] (`scenarios.rs`) plays every scenario on a local host. `driver.rs` makes the requests, and `receiver.rs`
//!   receives the deliveries
//! - `function_usage.rs` reads the host's usage counters
//! - [`Workload`] describes a month of chats and is parsed from the command line
//! - [`prices`] contains the list prices
//! - [`report`] formats the tables that are printed

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
pub use scenarios::{Scenario, ScenarioUsage, measure_all_scenarios};
