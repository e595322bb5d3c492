//! The parts that functions need to run: HTTP requests, queues and their batches, stream batches, socket events,
//! scheduled runs, dependencies, clients of AWS services, configuration, logging, metrics, passwords, random ids,
//! secrets and the clock.

pub mod aws_config;
pub(crate) mod aws_failure;
mod aws_http_client;
mod aws_signer;
pub mod clock;
pub(crate) mod config;
pub mod customer_aws;
pub mod dependencies;
mod distribution;
pub mod email_sender;
pub mod file_bucket;
mod file_forms;
mod gzip;
pub mod http;
pub mod invocation;
mod log;
pub mod mail_domain;
pub mod metrics;
pub mod outbox;
pub mod password;
pub mod public_base_url;
pub mod queue_consumer;
pub mod random_ids_and_secrets;
pub mod schedule;
pub mod socket;
pub mod socket_url;
mod span_exporter;
mod startup;
pub mod table_stream;
pub(crate) mod trace;
