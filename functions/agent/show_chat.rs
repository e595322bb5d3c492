//! GET /agent/chats/{chat_id}: returns a chat with its visitor and its panel. Links to domains that the account does
//! not allow are replaced (Safe URL).

use std::process::ExitCode;

use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::service::auth;
use shared::service::chat_access::ChatAccess;
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::agent::Chat;

fn main() -> ExitCode {
    http::run(handle)
}

type Dependencies = (Directory, Chats, Connections);

async fn handle((directory, chats, connections): Dependencies, request: Request) -> Result<Response, Error> {
    request.require_method("GET, HEAD")?;
    let caller = auth::agent(&connections, &request).await?;
    let now = clock::now();
    let access = ChatAccess { directory: &directory, chats: &chats, session: &caller, now };
    let chat = access.chat(request.path_number("chat_id")?).await?.without_expired_preview(now);
    let visitor = chats.visitor(&chat.channel_id, &chat.external_id).await?.ok_or(Error::NotFound)?;
    let panel = chats.panel(&caller.account_id, chat.chat_id).await?;
    let safe_urls = &directory.cached_settings(&caller.account_id).await?.safe_urls;
    let details = match chat.handover.as_ref().and_then(|handover| handover.details_seq) {
        Some(seq) => chats.entry(&caller.account_id, chat.chat_id, seq).await?,
        None => None,
    };
    let handover = details.as_ref().and_then(|entry| entry.content.handover());
    Ok(Response::ok(Chat::new((&chat, handover), visitor, panel, safe_urls, now)))
}
