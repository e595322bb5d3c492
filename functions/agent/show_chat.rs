//! /agent/chats/{chat_id}: GET returns a chat with its visitor and its panel, PATCH changes its tags, puts it aside, or
//! declines its offer.
//! Links to domains that the account does not allow are replaced (Safe URL).

use std::process::ExitCode;

use shared::chats::agent::change_chat::change_chat;
use shared::chats::assignment::offer_chat::decline_offer;
use shared::domain::accounts::account_settings::AccountSettings;
use shared::domain::chats::chat_change::ChatChange;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::service::auth;
use shared::service::chat_access::ChatAccess;
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::connections::sessions::Session;
use shared::store::directory::Directory;
use shared::wire::agent::{Chat, ChatRow, ChatUpdate};

fn main() -> ExitCode {
    http::run(handle)
}

type Dependencies = (Directory, Chats, Connections);

async fn handle((directory, chats, connections): Dependencies, request: Request) -> Result<Response, Error> {
    request.require_method("GET, HEAD, PATCH")?;
    let caller = auth::agent(&connections, &request).await?;
    let now = clock::now();
    let access = ChatAccess { directory: &directory, chats: &chats, session: &caller, now };
    let chat_id = request.path_number("chat_id")?;
    match request.method.as_str() {
        "GET" => show(&access, chat_id).await,
        "PATCH" => change(&access, chat_id, &request.body_as::<ChatUpdate>()?.checked(now)?).await,
        _ => Err(request.unexpected_method()),
    }
}

async fn show(access: &ChatAccess<'_>, chat_id: u64) -> Result<Response, Error> {
    let ChatAccess { directory, chats, session: caller, now } = *access;
    let chat = access.chat(chat_id).await?.without_expired_preview(now);
    let visitor = chats.visitor(&chat.channel_id, &chat.external_id).await?.ok_or(Error::NotFound)?;
    let visitor = access.shown(visitor).await?;
    let panel = chats.panel(&caller.account_id, chat.chat_id).await?;
    let planned = chats.planned_messages(&chat).await?;
    let safe_urls = &directory.cached_settings(&caller.account_id).await?.safe_urls;
    let details = match chat.handover.as_ref().and_then(|handover| handover.details_seq) {
        Some(seq) => chats.entry(&caller.account_id, chat.chat_id, seq).await?,
        None => None,
    };
    let handover = details.as_ref().and_then(|entry| entry.content.handover());
    let shown = Chat::new((&chat, handover), visitor, panel, safe_urls, now).with_planned(planned, safe_urls);
    Ok(Response::ok(shown))
}

async fn change(access: &ChatAccess<'_>, chat_id: u64, change: &ChatChange) -> Result<Response, Error> {
    let ChatAccess { directory, chats, session: caller, now } = *access;
    let chat = access.chat(chat_id).await?;
    require_tags(directory, caller, change).await?;
    let chat = if change.declines_offer { decline_offer(chats, chat, &caller.agent, now).await? } else { chat };
    let changed = change_chat(chats, chat, change, &caller.agent, now).await?;
    let safe_urls = &directory.cached_settings(&caller.account_id).await?.safe_urls;
    Ok(Response::ok(ChatRow::new(changed, safe_urls, now)))
}

/// Fails if a tag that the agent adds does not exist. The cached settings may be older than a new tag, so they are read
/// again before a tag is rejected.
async fn require_tags(directory: &Directory, caller: &Session, change: &ChatChange) -> Result<(), Error> {
    let first_unknown =
        |settings: &AccountSettings| change.added_tags.iter().position(|tag_id| settings.inbox.tag(*tag_id).is_none());
    if first_unknown(&*directory.cached_settings(&caller.account_id).await?).is_none() {
        return Ok(());
    }
    match first_unknown(&*directory.fresh_settings(&caller.account_id).await?) {
        Some(index) => Err(Error::field(format!("add_tags[{index}]"), "does not exist")),
        None => Ok(()),
    }
}
