//! The only module that reads environment variables, apart from tests. Each dependency of a function requests the
//! variables that it needs. The names of all required variables that are missing are reported together.

#![allow(clippy::disallowed_methods, reason = "the only place that reads environment variables")]

use std::env;
use std::time::Duration;

use aws_sdk_dynamodb::config::Credentials;

/// The value that is used if `FIRST_ATTEMPTS_PER_ACCOUNT` is not set. It matches the default of the
/// `FirstAttemptsPerAccount` parameter in `template.yaml`.
const DEFAULT_FIRST_ATTEMPTS_PER_ACCOUNT: u64 = 36;

const DEFAULT_AWS_CALL_TIMEOUT: Duration = Duration::from_secs(3);

/// Reads the environment variables that a function's dependencies need when they are opened. It also collects the names
/// of required variables that are missing.
#[derive(Default)]
pub struct Environment {
    missing: Vec<&'static str>,
}

#[derive(Debug, thiserror::Error)]
#[error("missing environment variables: {}", .0.join(", "))]
pub struct MissingVariables(Vec<&'static str>);

impl Environment {
    /// Returns the value of a variable. If the variable is missing, returns an empty string and records the name, so
    /// that [`finish`](Self::finish) returns an error.
    pub fn required(&mut self, name: &'static str) -> String {
        env::var(name).unwrap_or_else(|_| {
            self.missing.push(name);
            String::new()
        })
    }

    /// Returns whether the value of a required variable is `true`.
    pub(crate) fn required_flag(&mut self, name: &'static str) -> bool {
        self.required(name) == "true"
    }

    pub(crate) fn finish(mut self) -> Result<(), MissingVariables> {
        if self.missing.is_empty() {
            return Ok(());
        }
        self.missing.sort_unstable();
        self.missing.dedup();
        Err(MissingVariables(self.missing))
    }
}

/// Returns the lowest level that is logged, from an environment variable that the Lambda service sets. The default is
/// `INFO`.
pub fn log_level() -> String {
    env::var("AWS_LAMBDA_LOG_LEVEL").unwrap_or_else(|_| "INFO".to_owned())
}

/// Returns the name of the CloudFormation stack that contains the function. The name is a dimension of every metric.
pub(crate) fn stack_name() -> String {
    env::var("STACK_NAME").unwrap_or_else(|_| "unnamed".to_owned())
}

/// Returns the name of the function, from an environment variable that the Lambda service sets.
pub(crate) fn function_name() -> String {
    env::var("AWS_LAMBDA_FUNCTION_NAME").unwrap_or_else(|_| "unnamed".to_owned())
}

/// Returns the base URL of the collector that receives the spans of the function. `None` if they are not exported.
pub(crate) fn otlp_endpoint() -> Option<String> {
    non_empty("OTEL_EXPORTER_OTLP_ENDPOINT")
}

/// Returns the domain from which the stack sends e-mails. `None` if it sends none.
pub(crate) fn mail_domain() -> Option<String> {
    non_empty("MAIL_DOMAIN")
}

/// Returns how many of an account's first attempts can be in progress at the same time, for each kind of receiver.
pub(crate) fn first_attempts_per_account() -> u64 {
    let set = env::var("FIRST_ATTEMPTS_PER_ACCOUNT").ok().and_then(|number| number.parse().ok());
    set.unwrap_or(DEFAULT_FIRST_ATTEMPTS_PER_ACCOUNT)
}

/// Returns the secrets by which the CloudFront distribution in front of the API is recognized. A stack without one has
/// none.
pub(crate) fn origin_secrets() -> Vec<String> {
    let secrets = env::var("ORIGIN_SECRETS").unwrap_or_default();
    secrets.split(',').filter(|secret| !secret.is_empty()).map(str::to_owned).collect()
}

/// Returns how long a call to DynamoDB, SQS or API Gateway may take with its retries. The local host allows more time,
/// because a laptop can be busy with other programs.
pub(crate) fn aws_call_timeout() -> Duration {
    let set = env::var("AWS_CALL_TIMEOUT_SECONDS").ok().and_then(|seconds| seconds.parse().ok());
    set.map_or(DEFAULT_AWS_CALL_TIMEOUT, Duration::from_secs)
}

#[cfg(debug_assertions)]
pub(crate) fn clock_error_ms() -> i64 {
    env::var("CLOCK_ERROR_MS").ok().and_then(|number| number.parse().ok()).unwrap_or_default()
}

/// Returns the file in which the local host keeps its clock.
#[cfg(debug_assertions)]
pub(crate) fn clock_file() -> Option<std::path::PathBuf> {
    env::var_os("CLOCK_FILE").map(Into::into)
}

/// Returns the region of the function, from an environment variable that the Lambda service sets.
pub(crate) fn aws_region() -> String {
    env::var("AWS_REGION").unwrap_or_else(|_| "us-east-1".to_owned())
}

/// Returns the credentials of the function's role from environment variables, or `None` if they are not set. The Lambda
/// service sets these variables when a process starts, and ends the process before the credentials expire.
pub(crate) fn aws_credentials() -> Option<Credentials> {
    let (key, secret) = (non_empty("AWS_ACCESS_KEY_ID")?, non_empty("AWS_SECRET_ACCESS_KEY")?);
    Some(Credentials::new(key, secret, non_empty("AWS_SESSION_TOKEN"), None, "environment"))
}

/// Returns the URL that replaces the AWS endpoint of a service, such as `DYNAMODB`. Returns `None` if no environment
/// variable sets one. The AWS CLI and SDKs use the same names for the variables.
pub(crate) fn aws_endpoint_url(service: &str) -> Option<String> {
    non_empty(&format!("AWS_ENDPOINT_URL_{service}")).or_else(|| non_empty("AWS_ENDPOINT_URL"))
}

fn non_empty(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}
