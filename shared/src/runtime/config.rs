//! The only place that reads the environment. What a function needs follows from its resources; all
//! missing names are reported together.

#![allow(clippy::disallowed_methods, reason = "this is the place")]

use std::env;

use aws_config::{BehaviorVersion, Region, SdkConfig, retry::RetryConfig, timeout::TimeoutConfig};
use std::time::Duration;

/// What the template says unless a deployment changes it.
const FIRST_ATTEMPTS_PER_ACCOUNT: u64 = 64;

/// The environment while resources are being opened.
#[derive(Default)]
pub struct Environment {
    missing: Vec<&'static str>,
}

/// Variables that are not set.
#[derive(Debug, thiserror::Error)]
#[error("missing environment variables: {}", .0.join(", "))]
pub struct Missing(Vec<&'static str>);

impl Environment {
    /// The value of a variable; when it is not set the name is kept for [`finish`](Self::finish).
    pub fn text(&mut self, name: &'static str) -> String {
        env::var(name).unwrap_or_else(|_| {
            self.missing.push(name);
            String::new()
        })
    }

    /// Whether a variable is `true`.
    pub fn flag(&mut self, name: &'static str) -> bool {
        self.text(name) == "true"
    }

    /// Fails with every name that was asked for and is not set.
    pub fn finish(mut self) -> Result<(), Missing> {
        if self.missing.is_empty() {
            return Ok(());
        }
        self.missing.sort_unstable();
        self.missing.dedup();
        Err(Missing(self.missing))
    }
}

/// The least severe log line to write, as the Lambda service says.
pub fn log_level() -> String {
    env::var("AWS_LAMBDA_LOG_LEVEL").unwrap_or_else(|_| "INFO".to_owned())
}

/// The name of the stack that the function belongs to, for its metrics.
pub fn stack() -> String {
    env::var("STACK_NAME").unwrap_or_else(|_| "unnamed".to_owned())
}

/// How many first attempts to one kind of receiver an account may have under way at once.
pub fn first_attempts_per_account() -> u64 {
    let set = env::var("FIRST_ATTEMPTS_PER_ACCOUNT").ok().and_then(|number| number.parse().ok());
    set.unwrap_or(FIRST_ATTEMPTS_PER_ACCOUNT)
}

/// The settings of the AWS clients. Retries are on by default, time-outs are not.
pub async fn aws() -> SdkConfig {
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
