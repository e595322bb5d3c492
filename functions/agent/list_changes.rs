//! GET /agent/changes?cursor=: returns the rows of the chats that have changed since the cursor, and the numbers of
//! changed chats that the agent cannot see or that were erased (`gone`). Without a cursor, the response contains only a
//! new cursor, which a client requests before it reads the lists of chats. The client repeats the request with the new
//! cursor until `complete` is true. A cursor is valid for 24 hours; an older one gets 410 `cursor_expired`, and the
//! console reads the lists again.
//!
//! Each change is returned at least once. Chats that become visible or hidden because an admin changes a channel, a
//! department or an agent are not reported, because nothing changes in the chats.

use std::process::ExitCode;

use shared::domain::chats::chat_changes::ChangesCursor;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::service::auth;
use shared::service::chat_access::ChatAccess;
use shared::service::chat_changes;
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::agent::{ChangesQuery, ChatChanges, ChatRow};
use shared::wire::fields::values::SequentialNumber;

fn main() -> ExitCode {
    http::run(handle)
}

type Dependencies = (Directory, Chats, Connections);

async fn handle((directory, chats, connections): Dependencies, request: Request) -> Result<Response, Error> {
    request.require_method("GET, HEAD")?;
    let caller = auth::agent(&connections, &request).await?;
    let now = clock::now();
    let Some(cursor) = request.query_as::<ChangesQuery>()?.cursor(now)? else {
        let cursor = ChangesCursor::starting_at(now).to_text();
        let changes = ChatChanges { cursor, chats: Vec::new(), gone: Vec::new(), complete: true };
        return Ok(Response::ok(changes));
    };
    let access = ChatAccess { directory: &directory, chats: &chats, session: &caller, now };
    let page = chat_changes::read_page(&access, cursor).await?;
    let safe_urls = &directory.cached_settings(&caller.account_id).await?.safe_urls;
    Ok(Response::ok(ChatChanges {
        cursor: page.cursor.to_text(),
        chats: ChatRow::list(page.chats, safe_urls, now),
        gone: page.gone.into_iter().map(SequentialNumber).collect(),
        complete: page.is_complete,
    }))
}
