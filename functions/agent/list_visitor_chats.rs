//! GET /agent/visitors/{number}/chats?cursor=: lists the chats of a visitor, open or closed, newest first, at most ten
//! per page. `next` is the value of `cursor` for the next page, and null at the end of the list. Chats that the agent
//! may not see are left out, so a page may have fewer chats or none.
//!
//! The visitor's item contains the numbers of the visitor's last ten chats, and each chat contains the numbers of the
//! ten chats before it. Both are stored by the write that creates a chat, so that listing the chats needs no index.

use std::process::ExitCode;

use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::service::auth;
use shared::service::chat_access::ChatAccess;
use shared::store::chats::Chats;
use shared::store::chats::listing::chat_listing::ChatPage;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::agent::{ChatRow, VisitorChats, VisitorChatsQuery};
use shared::wire::fields::values::{NextCursor, NotNull};

fn main() -> ExitCode {
    http::run(handle)
}

type Dependencies = (Directory, Chats, Connections);

async fn handle((directory, chats, connections): Dependencies, request: Request) -> Result<Response, Error> {
    request.require_method("GET, HEAD")?;
    let caller = auth::agent(&connections, &request).await?;
    let VisitorChatsQuery { cursor: NotNull(after) } = request.query_as()?;
    let now = clock::now();
    let access = ChatAccess { directory: &directory, chats: &chats, session: &caller, now };
    let ChatPage { chats, next } = access.visitor_chats(request.path_number("number")?, after).await?;
    let safe_urls = &directory.cached_settings(&caller.account_id).await?.safe_urls;
    let next = NextCursor(next.map(|chat_id| chat_id.to_string()));
    Ok(Response::ok(VisitorChats { chats: ChatRow::list(chats, safe_urls, now), next }))
}
