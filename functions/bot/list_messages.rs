//! GET {bot_base_url}/webhooks/{provider_id}/{token}/chats/{chat_id}/messages?after=seq&limit=n: returns what visitor,
//! bots and agents have written in a chat, oldest first, to the bot that has the chat or is on standby. Like the
//! agent's list, a page ends before a gap that a concurrent request may still fill. Errors have the codes of the Bot
//! API.

use std::process::ExitCode;

use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::service::auth;
use shared::service::timeline_page::unexpired_entries;
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::bots::bot_error::BotApiError;
use shared::wire::bots::bot_transcript::{BotTranscript, BotTranscriptQuery};

fn main() -> ExitCode {
    http::run(handle)
}

type Dependencies = (Directory, Chats, Connections);

async fn handle((directory, chats, connections): Dependencies, request: Request) -> Result<Response, BotApiError> {
    request.require_method("GET, HEAD")?;
    let bot = auth::bot(&directory, &connections, &request).await?;
    let settings = directory.cached_settings(&bot.account_id).await?;
    let now = clock::now();
    connections.count_bot_request(&bot.bot_id, settings.limits.bot_requests, now).await?;
    settings.require_not_suspended().map_err(Error::from)?;
    let chat_id = request.path_number("chat_id")?;
    let (after, limit) = request.query_as::<BotTranscriptQuery>()?.page();
    let (page, chat) = chats.timeline_and_chat(&bot.account_id, chat_id, after, limit).await?;
    let chat = chat.ok_or(Error::NotFound)?;
    if bot.settings.standby && chat.state.agent().is_some() {
        chat.require_bot(&bot.bot_id).map_err(Error::from)?;
    } else {
        chat.require_owned_by_bot(&bot.bot_id)?;
    }
    let entries = unexpired_entries(&chats, &chat, page, after, limit, now).await?;
    Ok(Response::ok(BotTranscript::new(&entries, &chat)))
}
