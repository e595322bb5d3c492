//! Plays the service against the server of a partner: an integrator, a bot provider, a webhook or a gateway for phone
//! calls. Sends the examples of the contract, in the forms that they may take, and what it never sends, such as a request with
//! a wrong signature. Says for each clause of the contract whether the server keeps it.
//!
//! # Layout
//! - `partner.rs`: the kinds of servers, the examples that each of them gets, and which responses are right
//! - `cases.rs`: the clauses, each with the requests that show whether a server keeps it
//! - `clauses.rs`: sends them and judges the responses
//! - `sender.rs`: signs and sends a request
//! - `pieces.rs`: a body that arrives slowly or breaks off
//! - `spelling.rs`: unusual spellings of JSON

mod cases;
mod clauses;
mod partner;
mod pieces;
mod sender;
mod spelling;

pub use clauses::{Server, Verdict, check};
pub use partner::Partner;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    // The address may contain a token, so it is not shown.
    #[error("the address must start with http:// or https://")]
    Url,
    #[error("no secret: set SIGNING_SECRET, or use --secret")]
    NoSecret,
    #[error("the secret must be the text whsec_ and a key in base64, which must not be empty")]
    Secret,
    #[error("the OpenAPI document has no {0}")]
    Document(&'static str),
    #[error("no client for requests: {0}")]
    Client(reqwest::Error),
}
