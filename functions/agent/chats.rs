//! GET /agent/chats?state=open|bot|waiting|active|closed&before=chat_id&limit=n: the chats that the agent sees, newest
//! first. `next` is the `before` of the next page; a page may end before it is full, even empty, when it had much to look
//! through. A query for each state and a read for each chat; for an agent who is no admin also the channels of these chats
//! and the roster, which are cached.

use std::process::ExitCode;

use serde_json::{Value, json};
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::service::auth;
use shared::service::chat_access::ChatAccess;
use shared::store::chats::Chats;
use shared::store::chats::listing::{Listed, MAX_HEADERS_PER_READ};
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::agent;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    http::run(handle).await
}

type Dependencies = (Directory, Chats, Connections);

async fn handle((directory, chats, connections): Dependencies, request: Request) -> Result<Response, Error> {
    let caller = auth::agent(&connections, &request).await?;
    let states: &[&str] = match request.query("state").as_deref() {
        None | Some("open") => &["bot", "waiting", "active"],
        Some("bot") => &["bot"],
        Some("waiting") => &["waiting"],
        Some("active") => &["active"],
        Some("closed") => &["closed"],
        Some(_) => return Err(Error::field("state", "must be one of open, bot, waiting, active, closed")),
    };
    let before = request.query_number("before")?;
    let limit = request.query_number("limit")?.and_then(|limit| usize::try_from(limit).ok());
    let limit = limit.unwrap_or(MAX_HEADERS_PER_READ).clamp(1, MAX_HEADERS_PER_READ);
    let now = clock::now();
    let access = ChatAccess { directory: &directory, chats: &chats, session: &caller, now };
    let Listed { chats, next } = access.list(states, before, limit).await?;
    let safe_urls = &directory.cached_settings(&caller.account_id).await?.safe_urls;
    let rows: Vec<Value> = chats.into_iter().map(|chat| agent::chat_row(chat.as_kept(now), safe_urls)).collect();
    Ok(Response::ok(json!({ "chats": rows, "next": next })))
}
