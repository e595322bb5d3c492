//! Log lines: JSON with RFC 3339 time and level. The stock subscriber of the runtime omits the time, and
//! Lambda then labels every line INFO. Never logged: bodies, tokens, secrets, e-mail addresses, raw paths.

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::time::UtcTime;

/// Starts logging to standard output, once a process.
pub fn start() {
    let level = crate::config::log_level().to_lowercase();
    // The SDK and the HTTP stack log request details on debug: ours alone follow the level.
    let filter = EnvFilter::try_new(format!("warn,shared={level},functions={level}")).unwrap_or_default();
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
