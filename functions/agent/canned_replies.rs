//! /agent/canned-replies: GET lists the canned replies of the account, sorted by shortcut; POST creates one. Every
//! agent may list them; only admins may create them.
//!
//! POST gets 403 for an agent without the admin role, and 409 if another reply has the shortcut or if the account has
//! 250 replies. The tags and the recipient in the actions of the reply must exist.

use std::process::ExitCode;

use shared::error::Error;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::random_ids_and_secrets::random_identifier;
use shared::service::reply_actions::require_existing;
use shared::service::{audit, auth};
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::admin::canned_replies::{CannedReplies, CannedReply, NewCannedReply};

fn main() -> ExitCode {
    http::run(handle)
}

async fn handle((directory, connections): (Directory, Connections), request: Request) -> Result<Response, Error> {
    request.require_method("GET, HEAD, POST")?;
    match request.method.as_str() {
        "GET" => {
            let account_id = auth::agent(&connections, &request).await?.account_id;
            let replies = directory.canned_replies(&account_id).await?;
            Ok(Response::ok(CannedReplies::new(&replies)))
        }
        "POST" => {
            let caller = auth::admin(&connections, &request).await?;
            let reply = request.body_as::<NewCannedReply>()?.into_reply(random_identifier()?);
            require_existing(&directory, &caller.account_id, &reply.actions).await?;
            let directory = audit::by_agent(&directory, &caller, &request);
            directory.create_canned_reply(&caller.account_id, &reply).await?;
            Ok(Response::created(CannedReply::new(&reply)))
        }
        _ => Err(request.unexpected_method()),
    }
}
