//! An SES implementation for the local host: it accepts `SendEmail`, keeps the e-mails instead of sending them, and
//! shows them. A developer or a test can reply; the reply is stored in the bucket and passed to the function that
//! receives e-mails, as SES does:
//!
//! - `GET /mail` shows the e-mails, each with a form for a reply
//! - `GET /_local/mail` lists them as JSON
//! - `POST /_local/mail/receive` with `raw` (the source of an e-mail), `recipients` and optionally `verdicts` delivers an
//!   e-mail
//!
//! A host with a data folder also writes the e-mails to the file `ses.jsonl`, and reads it when it starts again.
//!
//! # Layout
//! - `send_email.rs`: `SendEmail` of the API, version 2
//! - `sent_emails.rs`: the e-mails and their file
//! - `receive.rs`: the source of a reply, and the event of a received e-mail
//! - `page.rs`: the pages at `/mail`

mod page;
mod receive;
mod send_email;
mod sent_emails;

use axum::Router;

use self::sent_emails::SentEmails;
pub(crate) use self::sent_emails::open as open_sent_emails;
use crate::aws::access_keys::AccessKeys;
use crate::aws::iam::Roles;
use crate::clock::Clock;
use crate::lambda::Functions;
use crate::s3::Objects;

/// Clones share the e-mails.
#[derive(Clone)]
pub(crate) struct LocalSes {
    pub access_keys: AccessKeys,
    pub roles: Roles,
    pub clock: Clock,
    pub functions: Functions,
    pub objects: Objects,
    pub emails: SentEmails,
}

impl LocalSes {
    /// Returns the endpoint for functions.
    pub fn private_router(&self) -> Router {
        send_email::router().with_state(self.clone())
    }

    /// Returns the pages and paths with which a developer or a test reads e-mails and replies to them.
    pub fn local_router(&self) -> Router {
        page::router().merge(receive::router()).with_state(self.clone())
    }
}
