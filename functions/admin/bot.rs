//! /admin/bots/{bot_id}: GET returns a bot, PATCH changes it, DELETE deletes it.
//!
//! An agent without the admin role gets 403 after the session has been read.

use std::process::ExitCode;

use shared::error::Error;
use shared::runtime::http::{self, Request, Response};
use shared::service::{audit, auth};
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::admin::{Bot, BotChanges, DeletedBot};
use shared::wire::fields::values::True;

fn main() -> ExitCode {
    http::run(handle)
}

async fn handle((directory, connections): (Directory, Connections), request: Request) -> Result<Response, Error> {
    request.require_method("DELETE, GET, HEAD, PATCH")?;
    let caller = auth::admin(&connections, &request).await?;
    let directory = audit::by_agent(&directory, &caller, &request);
    let bot = directory.bot_of_account(&caller.account_id, &request.path_segment("bot_id")).await?;
    match request.method.as_str() {
        "GET" => Ok(Response::ok(Bot::new(&bot))),
        "PATCH" => {
            let after = request.body_as::<BotChanges>()?.applied_to(&bot)?;
            directory.save_bot(&bot, &after).await?;
            Ok(Response::ok(Bot::new(&after)))
        }
        "DELETE" => {
            directory.delete_bot(&bot).await?;
            Ok(Response::ok(DeletedBot { bot_id: bot.bot_id, deleted: True }))
        }
        _ => Err(request.unexpected_method()),
    }
}
