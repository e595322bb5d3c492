//! /agent/canned-replies: GET lists the canned replies of the account, sorted by shortcut; POST creates one. Every
//! agent may list them; only admins may create them.
//!
//! POST gets 403 for an agent without the admin role, and 409 if another reply has the shortcut or if the account has
//! 250 replies.

use std::process::ExitCode;

use shared::domain::canned_reply::CannedReply;
use shared::error::Error;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::random_ids_and_secrets::random_identifier;
use shared::service::{audit, auth};
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::canned_replies;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    http::run(handle).await
}

async fn handle((directory, connections): (Directory, Connections), request: Request) -> Result<Response, Error> {
    match request.method.as_str() {
        "GET" => {
            let account_id = auth::agent(&connections, &request).await?.account_id;
            let replies = directory.canned_replies(&account_id).await?;
            Ok(Response::ok(canned_replies::canned_replies_json(&replies)))
        }
        "POST" => {
            let caller = auth::admin(&connections, &request).await?;
            let new = CannedReply { id: random_identifier()?, ..CannedReply::default() };
            let reply = canned_replies::apply_canned_reply_patch(&request.json()?, new)?;
            let directory = audit::by_agent(&directory, &caller, &request);
            directory.create_canned_reply(&caller.account_id, &reply).await?;
            Ok(Response::created(canned_replies::canned_reply_json(&reply)))
        }
        _ => Err(request.unexpected_method()),
    }
}
