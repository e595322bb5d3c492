//! The library of Switchboard's functions.
//!
//! # Layout
//!
//! Dependencies point downwards only:
//!
//! - [`service`]: use cases that several lines of a handler need: bot events, account settings, the delivery log,
//!   notifications, retention, authentication.
//! - [`delivery`]: sending to receivers: the engine, outbound HTTP and its signatures.
//! - [`store`]: DynamoDB, one folder for each table.
//! - [`runtime`]: how a function runs: HTTP, queue consumers, configuration, logging, metrics, secrets, the clock.
//! - [`wire`]: JSON bodies of the specification, of our own endpoints and of queue tasks.
//! - [`error`]: the one error type, with status and code for each variant.
//! - [`domain`]: the rules; no AWS, HTTP or serde, and time is an argument.

pub mod delivery;
pub mod domain;
pub mod error;
pub mod runtime;
pub mod service;
pub mod store;
pub mod wire;
