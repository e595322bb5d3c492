//! The only place that reads environment variables. Each dependency of a function asks for its own variables, and all
//! missing names are reported together.

#![allow(clippy::disallowed_methods, reason = "the only place that reads environment variables")]

use std::env;

use aws_config::{BehaviorVersion, Region, SdkConfig, retry::RetryConfig, timeout::TimeoutConfig};
use std::time::Duration;

/// The template's default.
const DEFAULT_FIRST_ATTEMPTS_PER_ACCOUNT: u64 = 64;

/// The environment variables that the dependencies of a function read when they are opened.
#[derive(Default)]
pub struct Environment {
    missing: Vec<&'static str>,
}

#[derive(Debug, thiserror::Error)]
#[error("missing environment variables: {}", .0.join(", "))]
pub struct MissingVariables(Vec<&'static str>);

impl Environment {
    /// The value of a variable. A missing variable yields an empty
    /// string here, and an error in [`finish`](Self::finish).
    pub fn required(&mut self, name: &'static str) -> String {
        env::var(name).unwrap_or_else(|_| {
            self.missing.push(name);
            String::new()
        })
    }

    /// Whether a required variable is `true`.
    pub(crate) fn flag(&mut self, name: &'static str) -> bool {
        self.required(name) == "true"
    }

    /// Fails with the names of all required variables that are not set.
    pub(crate) fn finish(mut self) -> Result<(), MissingVariables> {
        if self.missing.is_empty() {
            return Ok(());
        }
        self.missing.sort_unstable();
        self.missing.dedup();
        Err(MissingVariables(self.missing))
    }
}

/// The lowest level to log, from the Lambda service.
pub fn log_level() -> String {
    env::var("AWS_LAMBDA_LOG_LEVEL").unwrap_or_else(|_| "INFO".to_owned())
}

/// The name of the function's stack, for its metrics.
pub(crate) fn stack_name() -> String {
    env::var("STACK_NAME").unwrap_or_else(|_| "unnamed".to_owned())
}

/// How many first attempts of an account may be in progress at once for each kind of receiver.
pub(crate) fn first_attempts_per_account() -> u64 {
    let set = env::var("FIRST_ATTEMPTS_PER_ACCOUNT").ok().and_then(|number| number.parse().ok());
    set.unwrap_or(DEFAULT_FIRST_ATTEMPTS_PER_ACCOUNT)
}

/// The configuration of the AWS clients, with time-outs, which the SDK does not set by default.
pub(crate) async fn load_aws_config() -> SdkConfig {
    let region = env::var("AWS_REGION").unwrap_or_else(|_| "us-east-1".to_owned());
    let timeouts = TimeoutConfig::builder()
        .operation_attempt_timeout(Duration::from_secs(1))
        .operation_timeout(Duration::from_secs(3))
        .build();
    aws_config::defaults(BehaviorVersion::latest())
        .region(Region::new(region))
        .timeout_config(timeouts)
        .retry_config(RetryConfig::standard())
        .load()
        .await
}
