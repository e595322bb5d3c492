//! GET /agent/changes?cursor=: returns the rows of the chats that have changed since the cursor, and the numbers of
//! changed chats that the agent cannot see or that were erased (`gone`). Without a cursor, the response contains only a
//! new cursor, which a client requests before it reads the lists of chats. The client repeats the request with the new
//! cursor until `complete` is true. A cursor is valid for 24 hours; an older one gets 410 `cursor_expired`, and the
//! console reads the lists again.
//!
//! Each change is returned at least once. Chats that become visible or hidden because an admin changes a channel, a
//! department or an agent are not reported, because nothing changes in the chats.
//!
//! Costs these table requests:
//! - session: one read, plus two writes at most once a minute (the session and the agent's presence)
//! - open chats: per 100 chats, at most three queries of the index `listing` (one for each state) and one batch of
//!   reads. An index by the time of the last message would save the reads, but would cost one more write for every
//!   message
//! - chats closed or erased since the cursor: per 100 chats, one query of the index `due` and one batch that reads the
//!   closed chats
//! - limit: a request ends after the batch with which it has read 500 chats or found 100 changed chats
//! - visibility, only for an agent without the admin role: one read for each channel of the changed chats, in batches,
//!   and one query of the roster (the account's agents and departments). Both are cached for ten seconds; the roster is
//!   queried again if the cached copy may be stale
//! - settings: one read, cached for ten seconds
//!
//! A request without a cursor costs only the requests for the session.

use std::process::ExitCode;

use serde_json::json;
use shared::domain::chat_changes::ChangesCursor;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::service::auth;
use shared::service::chat_access::ChatAccess;
use shared::service::chat_changes;
use shared::store::chats::Chats;
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
    let now = clock::now();
    let Some(cursor) = request.query("cursor") else {
        let cursor = ChangesCursor::starting_at(now).to_text();
        return Ok(Response::ok(json!({ "cursor": cursor, "chats": [], "gone": [], "complete": true })));
    };
    let cursor = agent::parse_changes_cursor(&cursor, now)?;
    let access = ChatAccess { directory: &directory, chats: &chats, session: &caller, now };
    let page = chat_changes::read_page(&access, cursor).await?;
    let safe_urls = &directory.cached_settings(&caller.account_id).await?.safe_urls;
    Ok(Response::ok(json!({
        "cursor": page.cursor.to_text(),
        "chats": agent::chat_rows_json(page.chats, safe_urls, now),
        "gone": page.gone,
        "complete": page.is_complete,
    })))
}
