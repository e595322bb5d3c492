//! /agent/canned-replies/{id}: PATCH changes a canned reply, DELETE deletes it. Only admins may do this.
//!
//! If a concurrent request changes the shortcut, the reply is read again and the write is repeated. An agent without
//! the admin role gets 403 after the session has been read. PATCH gets 409 if another reply has the shortcut.

use std::process::ExitCode;

use shared::error::Error;
use shared::runtime::http::{self, Request, Response};
use shared::service::reply_actions::require_existing;
use shared::service::{audit, auth};
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::admin::canned_replies::{CannedReply, CannedReplyChanges, DeletedCannedReply};
use shared::wire::fields::values::True;

fn main() -> ExitCode {
    http::run(handle)
}

async fn handle((directory, connections): (Directory, Connections), request: Request) -> Result<Response, Error> {
    request.require_method("DELETE, PATCH")?;
    let caller = auth::admin(&connections, &request).await?;
    let (directory, account_id) = (audit::by_agent(&directory, &caller, &request), caller.account_id);
    let reply_id = request.path_segment("id");
    match request.method.as_str() {
        "PATCH" => {
            let changes: CannedReplyChanges = request.body_as()?;
            if let Some(actions) = changes.new_actions() {
                require_existing(&directory, &account_id, actions).await?;
            }
            let edit = |reply| changes.clone().applied_to(reply);
            let reply = directory.edit_canned_reply(&account_id, &reply_id, edit).await?;
            Ok(Response::ok(CannedReply::new(&reply)))
        }
        "DELETE" => {
            directory.delete_canned_reply(&account_id, &reply_id).await?;
            Ok(Response::ok(DeletedCannedReply { id: reply_id, deleted: True }))
        }
        _ => Err(request.unexpected_method()),
    }
}
