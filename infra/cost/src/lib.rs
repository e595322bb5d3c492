//! Computes what a workload costs: counts its requests on the local host and multiplies them by list prices.
//!
//! # Layout
//! - [`measure_all_scenarios`] (`measured_operations.rs`) runs every scenario on a local host. [`Driver`] makes the
//!   requests, and `receiver.rs` receives the deliveries; the benchmarks use the driver too
//! - `function_usage.rs` reads the host's usage counters
//! - [`Workload`] describes a month of chats and is parsed from the command line
//! - [`prices`] contains the list prices
//! - [`report`] formats the results as tables

mod driver;
mod function_usage;
mod measured_operations;
mod monthly_workload;
pub mod prices;
mod receiver;
pub mod report;

pub use driver::{Driver, Error, LoggedInAgent, Socket};
pub use function_usage::{Usage, UsageByFunction, usage_by_function};
pub use measured_operations::{Scenario, ScenarioUsage, measure_all_scenarios};
pub use monthly_workload::{Assumptions, Workload};
