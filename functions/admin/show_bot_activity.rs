//! GET /admin/bots/{bot_id}/activity: returns the bot's activity in the last hour.
//!
//! An agent without the admin role gets 403 after the session has been read.

use std::process::ExitCode;

use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::service::auth;
use shared::service::bot_activity::bot_activity;
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::admin::BotActivity;

fn main() -> ExitCode {
    http::run(handle)
}

type Dependencies = (Directory, Chats, Connections);

async fn handle((directory, chats, connections): Dependencies, request: Request) -> Result<Response, Error> {
    request.require_method("GET, HEAD")?;
    let caller = auth::admin(&connections, &request).await?;
    let bot = directory.bot_of_account(&caller.account_id, &request.path_segment("bot_id")).await?;
    let activity = bot_activity(&chats, &bot, clock::now()).await?;
    Ok(Response::ok(BotActivity::from(activity)))
}
