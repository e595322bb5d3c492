//! Log lines: JSON with RFC 3339 time and level. The stock subscriber of the runtime omits the time, and
//! Lambda then labels every line INFO. Never logged: bodies, tokens, secrets, e-mail addresses, raw paths.

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::time::UtcTime;

/// Crates that log for themselves.
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

/// Starts logging to standard output, once a process.
pub fn start() {
    let level = crate::runtime::config::log_level().to_lowercase();
    // The SDK and the HTTP stack log requests on debug: only our own lines follow the level. Each function is a
    // crate of its own, so the others are named.
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
