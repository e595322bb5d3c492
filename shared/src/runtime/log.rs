//! Logging: JSON lines with RFC 3339 time and level. The default subscriber of the Lambda runtime omits the time, and
//! Lambda then labels every line INFO. Never log bodies, tokens, secrets, e-mail addresses or raw paths.

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::time::UtcTime;

/// Dependencies that log on their own; only their warnings and errors are written.
const QUIET_CRATES: &[&str] = &[
    "aws_config",
    "aws_runtime",
    "aws_sdk_dynamodb",
    "aws_sdk_sqs",
    "aws_smithy_http_client",
    "aws_smithy_runtime",
    "aws_smithy_runtime_api",
    "h2",
    "hyper",
    "hyper_util",
    "lambda_http",
    "lambda_runtime",
    "lambda_runtime_api_client",
    "reqwest",
    "rustls",
    "tower",
];

/// Starts logging to standard output. Call it once in a process.
pub fn start() {
    let level = crate::runtime::config::log_level().to_lowercase();
    // At debug level the SDK and the HTTP stack log whole requests, so only our own lines follow the configured level.
    // Each function is a crate, so the filter lists the dependencies, not our crates.
    let filter = EnvFilter::try_new(QUIET_CRATES.iter().fold(level, |filter, name| format!("{filter},{name}=warn")));
    let filter = filter.unwrap_or_default();
    tracing_subscriber::fmt()
        .json()
        .flatten_event(true)
        .with_target(false)
        .with_current_span(true)
        .with_span_list(false)
        .with_timer(UtcTime::rfc_3339())
        .with_env_filter(filter)
        .init();
}
