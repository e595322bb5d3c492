//! POST /admin/bots/{bot_id}/rotate: creates a new signing secret.
//!
//! An agent without the admin role gets 403 after the session has been read.

use std::process::ExitCode;

use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::service::{audit, auth, secret_rotation};
use shared::store::connections::Connections;
use shared::store::directory::Directory;

fn main() -> ExitCode {
    http::run(handle)
}

async fn handle((directory, connections): (Directory, Connections), request: Request) -> Result<Response, Error> {
    let caller = auth::admin(&connections, &request).await?;
    let directory = audit::by_agent(&directory, &caller, &request);
    let bot = directory.bot_of_account(&caller.account_id, &request.path_segment("bot_id")).await?;
    let rotation = secret_rotation::rotated(&bot.signing_secrets, &request.optional_body_as()?, clock::now())?;
    directory.save_bot_signing_secrets(&bot, rotation.secrets).await?;
    Ok(Response::ok(rotation.body))
}
