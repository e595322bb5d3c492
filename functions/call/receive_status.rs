//! POST /calls/{account_id}/{call_id} and /calls/{account_id}/{call_id}/{leg}: receives a telephony provider's report
//! about the progress of a call (docs/telephony.md). The provider signs the request. A late or repeated report changes
//! nothing and gets the same response.
//!
//! If a concurrent report changes the call, the reads and writes are repeated.

use std::process::ExitCode;

use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::outbox::Outbox;
use shared::runtime::public_base_url::PublicBaseUrl;
use shared::service::calls::CallReports;
use shared::store::chats::Chats;
use shared::store::directory::Directory;

fn main() -> ExitCode {
    http::run(handle)
}

async fn handle(
    (directory, chats, outbox, public_url): (Directory, Chats, Outbox, PublicBaseUrl),
    request: Request,
) -> Result<Response, Error> {
    let (account_id, call_id) = (request.path_segment("account_id"), request.path_segment("call_id"));
    let reports = CallReports { directory: &directory, chats: &chats, now: clock::now() };
    reports.receive((&request, &public_url), &account_id, &call_id, &outbox).await
}
