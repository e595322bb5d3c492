//! The library that all functions of Switchboard share.
//!
//! # Layout
//!
//! A module depends only on the modules below it in this list:
//!
//! - [`service`]: what several functions share, such as authenticating callers, finding the chat of a request,
//!   searching the delivery log and pushing changes.
//! - [`delivery`]: sends the entries of a chat (its messages, notifications and calls) to integrators, bots, webhooks
//!   and telephony providers over HTTP.
//! - [`chats`]: the use cases of a chat: what a visitor, an agent, a bot, a call or a schedule does to it.
//! - [`store`]: the DynamoDB tables: keys, items, indexes and single writes; one folder for each table.
//! - [`runtime`]: what functions need to run: HTTP requests and responses, queue consumers, configuration, logs,
//!   metrics, secrets and the clock.
//! - [`wire`]: parses and builds the JSON used by the APIs, webhooks and queue tasks, and the forms and XML of Twilio.
//! - [`contract`]: describes operations, for the OpenAPI document that `infra/contract` generates from the types of
//!   [`wire`].
//! - [`error`]: the library's error type, with an HTTP status and a code for each variant.
//! - [`domain`]: the business rules. They do not depend on AWS, HTTP or serde, and the current time is always an
//!   argument.

pub mod chats;
pub mod contract;
pub mod delivery;
pub mod domain;
pub mod error;
#[cfg(test)]
mod fuzz;
pub mod runtime;
pub mod service;
pub mod store;
pub mod wire;
