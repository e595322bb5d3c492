//! GET /admin/chats/export.csv, with the parameters of /admin/chats/export: exports chats as CSV. The header
//! `x-next-cursor` contains the cursor of the next page. Only the first page has a line of column names.
//!
//! An agent without the admin role gets 403 after the session has been read.

use std::process::ExitCode;

use shared::domain::chats::chat_export::ExportCursor;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::service::auth;
use shared::service::chat_export::exported_page;
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::admin::chat_export;

fn main() -> ExitCode {
    http::run(handle)
}

type Dependencies = (Connections, Directory, Chats);

async fn handle((connections, directory, chats): Dependencies, request: Request) -> Result<Response, Error> {
    request.require_method("GET, HEAD")?;
    let caller = auth::admin(&connections, &request).await?;
    let (page, inbox, is_first) = exported_page(&directory, &chats, &caller, &request, clock::now()).await?;
    let next = page.next.map(ExportCursor::to_text).map(|next| ("x-next-cursor", next));
    Ok(Response::csv(chat_export::export_csv(&page, &inbox, is_first), "chats.csv").with_headers(next))
}
