//! /agent/canned-replies: GET lists the canned replies of the account, sorted by shortcut; POST creates one.
//! /agent/canned-replies/{id}: PATCH changes a canned reply, DELETE deletes it. Every agent may list them; only admins
//! may change them.
//!
//! If a concurrent request changes the shortcut, PATCH and DELETE read the reply again and repeat the write. Except for
//! GET, an agent without the admin role gets 403 after the session has been read. POST and PATCH get 409 if another
//! reply has the shortcut. POST also gets 409 if the account has 250 replies.

use std::process::ExitCode;

use serde_json::json;
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
    if request.method == "GET" {
        let account_id = auth::agent(&connections, &request).await?.account_id;
        let replies = directory.canned_replies(&account_id).await?;
        return Ok(Response::ok(canned_replies::canned_replies_json(&replies)));
    }
    let caller = auth::admin(&connections, &request).await?;
    let (directory, account_id) = (audit::by_agent(&directory, &caller, &request), caller.account_id);
    let reply_id = request.path_segment("id");
    match request.method.as_str() {
        "PATCH" => {
            let body = request.json()?;
            let edit = |reply| canned_replies::apply_canned_reply_patch(&body, reply);
            let reply = directory.edit_canned_reply(&account_id, &reply_id, edit).await?;
            Ok(Response::ok(canned_replies::canned_reply_json(&reply)))
        }
        "DELETE" => {
            directory.delete_canned_reply(&account_id, &reply_id).await?;
            Ok(Response::ok(json!({ "id": reply_id, "deleted": true })))
        }
        _ => {
            let new = CannedReply { id: random_identifier()?, ..CannedReply::default() };
            let reply = canned_replies::apply_canned_reply_patch(&request.json()?, new)?;
            directory.create_canned_reply(&account_id, &reply).await?;
            Ok(Response::created(canned_replies::canned_reply_json(&reply)))
        }
    }
}
