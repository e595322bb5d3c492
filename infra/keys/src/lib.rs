//! Simulates a service with many accounts, and compares the load of its busiest partition keys and message groups with
//! the limits of AWS. The keys are made by the same functions that the stores and the queues use.
//!
//! # Layout
//! - [`Options`] describes a load and is parsed from the command line
//! - [`operation`]: what makes up the load, and the requests of each operation
//! - [`zipf`]: draws accounts of different sizes
//! - [`simulation`]: draws operations at random and counts the requests to each key
//! - [`report`]: formats the busiest keys as tables

pub mod operation;
mod options;
pub mod report;
pub mod simulation;
pub mod zipf;

pub use options::Options;
