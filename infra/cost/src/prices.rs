//! List prices of us-east-1 in US dollars, without free tiers, discounts and taxes.
//!
//! The prices were taken from the pricing pages of the services, and from public summaries of these pages, in the first
//! half of 2026. Prices change: check <https://aws.amazon.com/pricing/> before you base a decision on them.

pub const PRICE_DATE: &str = "the first half of 2026";

const MILLION: f64 = 1_000_000.0;

/// A request through an HTTP API, per 512 KB. The price applies to the first 300 million requests a month.
pub const HTTP_REQUEST: f64 = 1.00 / MILLION;
/// An invocation of a function.
pub const LAMBDA_REQUEST: f64 = 0.20 / MILLION;
/// A GB-second of a function on arm64. The price applies to the first 7.5 billion GB-seconds a month.
pub const LAMBDA_GB_SECOND: f64 = 0.000_013_333_4;
/// A read unit of an on-demand table of the class Standard.
pub const DYNAMODB_READ: f64 = 0.125 / MILLION;
/// A write unit of an on-demand table of the class Standard.
pub const DYNAMODB_WRITE: f64 = 0.625 / MILLION;
/// A request to a FIFO queue, per 64 KB.
pub const SQS_FIFO: f64 = 0.50 / MILLION;
/// A request to a standard queue that is a fair queue, as the retry queues are: 0.40, plus 0.10 for fairness.
pub const SQS_FAIR: f64 = 0.50 / MILLION;
/// A message over a web socket, per 32 KB.
pub const SOCKET_MESSAGE: f64 = 1.00 / MILLION;
/// A minute of an open web socket.
pub const SOCKET_MINUTE: f64 = 0.25 / MILLION;
/// A GB of ingested log lines.
pub const LOG_GB: f64 = 0.50;
/// An alarm on one metric of standard resolution, for a month.
pub const ALARM: f64 = 0.10;
/// A dashboard, for a month.
pub const DASHBOARD: f64 = 3.00;
/// A custom metric, for a month. It is charged for each hour in which it is written. The price applies to the first
/// 10,000 metrics.
pub const METRIC: f64 = 0.30;
