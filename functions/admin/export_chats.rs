//! GET /admin/chats/export?chat_id=&cursor= or ?from=&to=&channel_id=&cursor=: exports one chat, or the chats that were
//! closed in a time range, with their timelines, as JSON. The field `next` contains the cursor of the next page.
//!
//! An agent without the admin role gets 403 after the session has been read.

use std::process::ExitCode;

use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::service::auth;
use shared::service::chat_export::exported_page;
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::admin::chat_export::ExportedChats;

fn main() -> ExitCode {
    http::run(handle)
}

type Dependencies = (Connections, Directory, Chats);

async fn handle((connections, directory, chats): Dependencies, request: Request) -> Result<Response, Error> {
    request.require_method("GET, HEAD")?;
    let caller = auth::admin(&connections, &request).await?;
    let now = clock::now();
    let (page, inbox, _) = exported_page(&directory, &chats, &caller, &request, now).await?;
    Ok(Response::ok(ExportedChats::new(page, &inbox, now)))
}
