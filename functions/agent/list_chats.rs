//! GET /agent/chats?state=open|bot|waiting|active|closed&before=chat_id&limit=n: lists the chats that the agent may
//! see, newest first. `next` is the value of `before` for the next page, and null at the end of the list. If many chats
//! are hidden from the agent, a page may be shorter than `limit` or even empty. With a filter (tag_id, channel_id,
//! department_id, unanswered, snoozed, mentioned), a page is what remains of one batch of headers.

use std::process::ExitCode;

use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::service::auth;
use shared::service::chat_access::ChatAccess;
use shared::store::chats::Chats;
use shared::store::chats::listing::chat_listing::{ChatPage, MAX_HEADERS_PER_READ};
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::agent::{ChatList, ChatListQuery, ChatRow};

fn main() -> ExitCode {
    http::run(handle)
}

type Dependencies = (Directory, Chats, Connections);

async fn handle((directory, chats, connections): Dependencies, request: Request) -> Result<Response, Error> {
    request.require_method("GET, HEAD")?;
    let now = clock::now();
    let query: ChatListQuery = match request.query_as() {
        Ok(query) => query,
        // A caller without a valid token gets 401, whatever the parameters are.
        Err(error) => return Err(auth::agent(&connections, &request).await.err().unwrap_or(error)),
    };
    let limit = query.limit.0.and_then(|limit| usize::try_from(limit).ok());
    let limit = limit.unwrap_or(MAX_HEADERS_PER_READ).clamp(1, MAX_HEADERS_PER_READ);
    let filter = query.filter();
    let read_ahead = if filter.is_empty() { limit } else { MAX_HEADERS_PER_READ };
    let account_id = auth::claimed_account(&request).ok_or(Error::Unauthorized)?;
    let mut listing = chats.listing(account_id, query.states(), query.before.0);
    let (caller, read) = tokio::join!(auth::agent(&connections, &request), listing.read_ahead(read_ahead));
    let caller = caller?;
    read?;
    let access = ChatAccess { directory: &directory, chats: &chats, session: &caller, now };
    let ChatPage { chats, next } = if filter.is_empty() {
        access.list(listing, limit).await?
    } else {
        access.filtered_list(listing, &filter, limit).await?
    };
    let safe_urls = &directory.cached_settings(&caller.account_id).await?.safe_urls;
    Ok(Response::ok(ChatList { chats: ChatRow::list(chats, safe_urls, now), next }))
}
