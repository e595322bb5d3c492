//! DELETE /admin/visitors/{number}: erases a visitor and all of the visitor's chats, and returns how many chats and
//! entries were erased. If the time budget runs out, `complete` is false, and a repeated request continues the erasure.
//!
//! Costs these table requests:
//! - session: one read, plus two writes at most once a minute (the session and the agent's presence)
//! - visitor: two reads (the visitor number and the progress of an earlier request), and one write that deletes the
//!   visitor
//! - chats: for each of the four chat states, one query of the index per megabyte or per 1,000 of the account's chats.
//!   Each of the visitor's chats also costs queries for its items and one write per item
//! - end: two writes that delete the visitor number and the progress, or one write of the progress if the time budget
//!   is used up
//!
//! The response to an unknown number is 404, after the queries of the index. An agent without the admin role gets 403
//! after the session has been read.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use serde_json::json;
use shared::error::Error;
use shared::runtime::http::{self, Request, Response};
use shared::service::auth;
use shared::store::chats::Chats;
use shared::store::connections::Connections;

/// The maximum time that a request spends on an erasure. It is shorter than the gateway's timeout.
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
