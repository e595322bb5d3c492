//! DELETE /admin/visitors/{number}: erases a visitor with all their chats and says what it removed. `complete` is false
//! where the time did not suffice; the same call goes on then.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use serde_json::json;
use shared::error::Error;
use shared::runtime::http::{self, Request, Response};
use shared::service::auth;
use shared::store::chats::Chats;
use shared::store::connections::Connections;

/// How long one call goes on: less than the gateway waits.
const TIME_BUDGET: Duration = Duration::from_secs(20);

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    http::run(handle).await
}

async fn handle((chats, connections): (Chats, Connections), request: Request) -> Result<Response, Error> {
    let caller = auth::admin(&connections, &request).await?;
    let (number, started) = (request.number("number")?, Instant::now());
    let erased = chats.erase_visitor(&caller.account_id, number, &|| started.elapsed() < TIME_BUDGET).await?;
    tracing::info!(number, erased.chats, erased.entries, erased.is_complete, "visitor erased");
    let removed = json!({ "chats": erased.chats, "entries": erased.entries });
    Ok(Response::ok(json!({ "number": number, "removed": removed, "complete": erased.is_complete })))
}
