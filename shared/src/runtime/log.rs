//! Writes the log as JSON lines with a level and an RFC 3339 time. The default subscriber of the Lambda runtime omits
//! the time, which makes Lambda label every line INFO. Bodies, tokens, secrets, e-mail addresses and raw paths must
//! never be logged.

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::time::UtcTime;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Third-party crates that write log lines of their own. Only their warnings and errors are logged.
const QUIET_CRATES: &[&str] = &[
    "aws_runtime",
    "aws_sdk_apigatewaymanagement",
    "aws_sdk_dynamodb",
    "aws_sdk_sqs",
    "aws_smithy_runtime",
    "aws_smithy_runtime_api",
    "hyper",
    "hyper_util",
    "lambda_http",
    "lambda_runtime",
    "lambda_runtime_api_client",
    "reqwest",
    "rustls",
    "tower",
];

/// Installs the subscriber that writes the log. Must be called only once per process.
pub fn start() {
    let level = crate::runtime::config::log_level().parse().unwrap_or(LevelFilter::INFO);
    // At debug level, the AWS SDK and the HTTP stack log whole requests, so these crates log at most warnings and
    // errors, whatever the configured level. The filter lists the third-party crates because the project's crates have
    // many names: each function is a separate crate.
    let quiet = QUIET_CRATES.iter().map(|name| (*name, level.min(LevelFilter::WARN)));
    let filter = Targets::new().with_default(level).with_targets(quiet);
    let lines = tracing_subscriber::fmt::layer()
        .json()
        .flatten_event(true)
        .with_target(false)
        .with_current_span(true)
        .with_span_list(false)
        .with_timer(UtcTime::rfc_3339());
    tracing_subscriber::registry().with(lines).with(filter).init();
}
