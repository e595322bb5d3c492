//! How a function runs: HTTP requests, queue batches and schedules, configuration, logging, metrics, secrets and the clock.

pub mod clock;
pub mod config;
pub mod consumer;
pub mod dependencies;
pub mod http;
pub mod log;
pub mod metrics;
pub mod password;
pub mod queue;
pub mod secret;
