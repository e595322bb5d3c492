//! GET /agent/search?q=&cursor=: searches the chats that the agent may see. A chat is found by its number or its
//! visitor's number, by the visitor's e-mail address, phone number, name or id at the integrator, or by words in the
//! last message. `next` is the value of `cursor` for the next page, and null at the end of the results. A page may have
//! few chats or none, because a request examines a limited number of chats; the search is complete when `next` is null.
//!
//! Names and last messages are found by reading the headers of the chats, newest first, because an index would cost one
//! more write for every message.

use std::process::ExitCode;

use shared::domain::chats::chat_search::SearchCursor;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::service::auth;
use shared::service::chat_access::ChatAccess;
use shared::service::chat_search::{self, SearchPage};
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::agent::{ChatRow, ChatSearchQuery, FoundChats};
use shared::wire::fields::values::NextCursor;

fn main() -> ExitCode {
    http::run(handle)
}

type Dependencies = (Directory, Chats, Connections);

async fn handle((directory, chats, connections): Dependencies, request: Request) -> Result<Response, Error> {
    request.require_method("GET, HEAD")?;
    let caller = auth::agent(&connections, &request).await?;
    let (query, cursor) = request.query_as::<ChatSearchQuery>()?.checked()?;
    let now = clock::now();
    let access = ChatAccess { directory: &directory, chats: &chats, session: &caller, now };
    let SearchPage { chats, next } = chat_search::read_page(&access, &query, cursor).await?;
    let safe_urls = &directory.cached_settings(&caller.account_id).await?.safe_urls;
    let next = NextCursor(next.as_ref().map(SearchCursor::to_text));
    Ok(Response::ok(FoundChats { chats: ChatRow::list(chats, safe_urls, now), next }))
}
