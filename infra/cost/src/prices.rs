//! The list prices of us-east-1 in US dollars, without free tiers, discounts and taxes.
//!
//! The prices were taken from the services' pricing pages, and from public summaries of those pages, in the first half
//! of 2026. Prices change: check <https://aws.amazon.com/pricing/> before you base a decision on them.

pub const PRICE_DATE: &str = "the first half of 2026";

const MILLION: f64 = 1_000_000.0;

/// The price of a request to an HTTP API, for the first 300 million requests in a month. Requests are metered in 512 KB
/// increments.
pub const HTTP_REQUEST: f64 = 1.00 / MILLION;
pub const LAMBDA_REQUEST: f64 = 0.20 / MILLION;
/// The price of a second of a function with 1 GB of memory on arm64, for the first 7.5 billion GB-seconds in a month.
pub const LAMBDA_GB_SECOND: f64 = 0.000_013_333_4;
/// The price of a read request unit for an on-demand table in the Standard table class.
pub const DYNAMODB_READ: f64 = 0.125 / MILLION;
/// The price of a write request unit for an on-demand table in the Standard table class.
pub const DYNAMODB_WRITE: f64 = 0.625 / MILLION;
/// The price of a request to a FIFO queue. Every 64 KB of payload is billed as one request.
pub const SQS_FIFO: f64 = 0.50 / MILLION;
/// The price of a request to a standard queue that is used as a fair queue, like the retry queues: 0.40 per million,
/// plus 0.10 for fairness.
pub const SQS_FAIR: f64 = 0.50 / MILLION;
/// The price of a message through a WebSocket. Every 32 KB of a message is billed as one message.
pub const SOCKET_MESSAGE: f64 = 1.00 / MILLION;
pub const SOCKET_MINUTE: f64 = 0.25 / MILLION;
/// The price of ingesting 1 GB of logs.
pub const LOG_GB: f64 = 0.50;
/// The monthly price of a standard-resolution alarm on one metric.
pub const ALARM: f64 = 0.10;
/// The monthly price of a dashboard.
pub const DASHBOARD: f64 = 3.00;
/// The monthly price of a custom metric. A metric is charged only for the hours in which it is written. The price
/// applies to the first 10,000 metrics.
pub const METRIC: f64 = 0.30;
