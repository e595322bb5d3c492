//! DELETE /admin/visitors/{number}: erases a visitor with all chats and returns the numbers of erased items. If the
//! time budget does not suffice, `complete` is false and the same request continues the erasure.
//!
//! Table requests:
//! - session: one read; at most once a minute also two writes, to the session and the agent's presence
//! - visitor: two reads, of the visitor number and the progress of an earlier request; one write that deletes the
//!   visitor
//! - chats: for each of the four states one query of the index for each megabyte or 1,000 chats of the account; for
//!   each chat of the visitor queries of its items, and one write for each item
//! - end: two writes that delete number and progress, or one write of the progress if the time budget is used up
//!
//! An unknown number is refused with 404 after the queries of the index. An agent without the admin role is refused
//! with 403 after the read of the session.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use serde_json::json;
use shared::error::Error;
use shared::runtime::http::{self, Request, Response};
use shared::service::auth;
use shared::store::chats::Chats;
use shared::store::connections::Connections;

/// Shorter than the time-out of the gateway.
const ERASURE_TIME_BUDGET: Duration = Duration::from_secs(20);

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    http::run(handle).await
}

async fn handle((chats, connections): (Chats, Connections), request: Request) -> Result<Response, Error> {
    let caller = auth::admin(&connections, &request).await?;
    let (number, started) = (request.path_number("number")?, Instant::now());
    let erased = chats.erase_visitor(&caller.account_id, number, &|| started.elapsed() < ERASURE_TIME_BUDGET).await?;
    tracing::info!(number, erased.chats, erased.entries, erased.is_complete, "visitor erased");
    let removed = json!({ "chats": erased.chats, "entries": erased.entries });
    Ok(Response::ok(json!({ "number": number, "removed": removed, "complete": erased.is_complete })))
}
