//! POST {bot_base_url}/webhooks/{provider_id}/{token}/chats/{chat_id}/uploads: returns the form with which a bot sends
//! a file to the bucket. Only the bot that has the chat can use it. Errors have the codes of the Bot API.

use std::process::ExitCode;

use shared::domain::files::upload::Uploader;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::file_bucket::FileBucket;
use shared::runtime::http::{self, Request, Response};
use shared::service::auth;
use shared::service::uploads::create_upload;
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::bots::bot_error::BotApiError;

fn main() -> ExitCode {
    http::run(handle)
}

type Dependencies = (Directory, Chats, Connections, FileBucket);

async fn handle(
    (directory, chats, connections, bucket): Dependencies,
    request: Request,
) -> Result<Response, BotApiError> {
    request.require_method("POST")?;
    let bot = auth::bot(&directory, &connections, &request).await?;
    let settings = directory.cached_settings(&bot.account_id).await?;
    let now = clock::now();
    connections.count_bot_request(&bot.bot_id, settings.limits.bot_requests, now).await?;
    settings.require_not_suspended().map_err(Error::from)?;
    let chat_id = request.path_number("chat_id")?;
    let body = request.body_as()?;
    let chat = chats.chat(&bot.account_id, chat_id).await?.ok_or(Error::NotFound)?;
    chat.require_owned_by_bot(&bot.bot_id)?;
    let uploader = Uploader::bot(&bot.account_id, &bot.bot_id, chat_id);
    Ok(Response::created(create_upload(&bucket, &uploader, (body, &settings.files), now)?))
}
