//! The list prices of us-east-1 in US dollars, without free tiers, discounts and taxes.
//!
//! The prices were taken from the pricing pages of the services, and from public summaries of these pages, in the first
//! half of 2026. Prices change: check <https://aws.amazon.com/pricing/> before you base a decision on them.

pub const PRICE_DATE: &str = "the first half of 2026";

const MILLION: f64 = 1_000_000.0;

/// The price of a request through an HTTP API. Larger requests are charged per 512 KB. The price applies to the first
/// 300 million requests in a month.
pub const HTTP_REQUEST: f64 = 1.00 / MILLION;
/// The price of an invocation of a function.
pub const LAMBDA_REQUEST: f64 = 0.20 / MILLION;
/// The price of a GB-second of a function on arm64. It applies to the first 7.5 billion GB-seconds in a month.
pub const LAMBDA_GB_SECOND: f64 = 0.000_013_333_4;
/// The price of a read unit of an on-demand table of the class Standard.
pub const DYNAMODB_READ: f64 = 0.125 / MILLION;
/// The price of a write unit of an on-demand table of the class Standard.
pub const DYNAMODB_WRITE: f64 = 0.625 / MILLION;
/// The price of a request to a FIFO queue. Larger requests are charged per 64 KB.
pub const SQS_FIFO: f64 = 0.50 / MILLION;
/// The price of a request to a standard queue that is used as a fair queue, as the retry queues are: 0.40 a million,
/// plus 0.10 for fairness.
pub const SQS_FAIR: f64 = 0.50 / MILLION;
/// The price of a message over a web socket. Larger messages are charged per 32 KB.
pub const SOCKET_MESSAGE: f64 = 1.00 / MILLION;
/// The price of a minute of an open web socket.
pub const SOCKET_MINUTE: f64 = 0.25 / MILLION;
/// The price of a GB of ingested log lines.
pub const LOG_GB: f64 = 0.50;
/// The monthly price of an alarm on one metric of standard resolution.
pub const ALARM: f64 = 0.10;
/// The monthly price of a dashboard.
pub const DASHBOARD: f64 = 3.00;
/// The monthly price of a custom metric. A metric is charged for each hour in which it is written. The price applies to
/// the first 10,000 metrics.
pub const METRIC: f64 = 0.30;
