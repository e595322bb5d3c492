//! Describes the HTTP API and its messages, so that `docs/openapi.json` and `docs/asyncapi.json` are generated from the
//! types that the functions read and write (see `infra/contract`). Functions never call this module.

// A missing member of a JSON object is created when it is assigned, so indexing does not panic.
#![allow(clippy::indexing_slicing)]

mod async_document;
mod document;
pub mod failure;
mod message;
mod operation;
mod portable;

pub use async_document::async_document;
pub use document::Document;
pub use failure::Failure;
pub use message::{Channel, Message};
pub use operation::{Operation, Security};
