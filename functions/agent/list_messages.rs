//! GET /agent/chats/{chat_id}/messages?after=seq&limit=n: returns the timeline of a chat, oldest entry first, with the
//! state of each delivery. Links to domains that the account does not allow are replaced (Safe URL). A page ends before
//! a gap that a concurrent request may still fill (see `timeline_entry::stable_prefix`). Therefore, a client that
//! polls from its last `seq` never skips an entry. Links to files that have ended are renewed.

use std::process::ExitCode;

use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::public_base_url::PublicBaseUrl;
use shared::service::auth;
use shared::service::chat_access::ChatAccess;
use shared::service::file_links::FileLinks;
use shared::service::timeline_page::unexpired_entries;
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::agent::{self, Timeline, TimelineQuery};

/// The largest and the default value of the parameter `limit`.
const MAX_MESSAGES_PER_PAGE: u64 = 500;

fn main() -> ExitCode {
    http::run(handle)
}

type Dependencies = (Directory, Chats, Connections, PublicBaseUrl);

async fn handle(dependencies: Dependencies, request: Request) -> Result<Response, Error> {
    let (directory, chats, connections, url) = dependencies;
    let caller = auth::agent(&connections, &request).await?;
    let chat_id = request.path_number("chat_id")?;
    let TimelineQuery { after, limit } = request.query_as()?;
    let after = after.0.unwrap_or(0);
    let limit = limit.0.unwrap_or(MAX_MESSAGES_PER_PAGE).clamp(1, MAX_MESSAGES_PER_PAGE);
    let limit = i32::try_from(limit).map_err(Error::internal)?;
    let now = clock::now();
    let (first_page, chat) = chats.timeline_and_chat(&caller.account_id, chat_id, after, limit).await?;
    let chat = ChatAccess { directory: &directory, chats: &chats, session: &caller, now }.require_visible(chat).await?;
    let mut entries = unexpired_entries(&chats, &chat, first_page, after, limit, now).await?;
    FileLinks { directory: &directory, base_url: url.of_request(&request), now }.renew(&mut entries).await?;
    let safe_urls = &directory.cached_settings(&caller.account_id).await?.safe_urls;
    let messages = entries.into_iter().map(|entry| agent::TimelineEntry::new(entry, safe_urls, now)).collect();
    Ok(Response::ok(Timeline { messages }))
}
