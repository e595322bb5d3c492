//! GET /admin/chats/export and /admin/chats/export.csv, with ?chat_id=&cursor= or ?from=&to=&channel_id=&cursor=:
//! exports one chat, or the chats that were closed in a time range, with their timelines. The cursor of the next page
//! is in the field `next` of the JSON, or in the header `x-next-cursor` of the CSV response.
//!
//! A page ends after 500 entries or one megabyte. A page of a range also ends after about 500 examined chats, or after
//! four seconds.
//!
//! An agent without the admin role gets 403 after the session has been read.

use std::process::ExitCode;

use shared::domain::audit::{AuditAction, AuditedChange, AuditedKind};
use shared::domain::chat_export::ExportCursor;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::service::chat_export::ChatExportService;
use shared::service::{audit, auth};
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::chat_export;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    http::run(handle).await
}

type Dependencies = (Directory, Chats, Connections);

async fn handle((directory, chats, connections): Dependencies, request: Request) -> Result<Response, Error> {
    let caller = auth::admin(&connections, &request).await?;
    let scope = chat_export::parse_export_scope(&|name| request.query(name))?;
    let cursor = request.query("cursor").map(|text| chat_export::parse_export_cursor(&text, &scope)).transpose()?;
    let now = clock::now();
    let exported = AuditedChange::unnamed(AuditAction::Exported, AuditedKind::Chats, scope.audited_id());
    audit::by_agent(&directory, &caller, &request).record_once_a_minute(&caller.account_id, exported).await?;
    let export = ChatExportService { account_id: &caller.account_id, chats: &chats, now };
    let page = export.page(&scope, cursor).await?;
    if request.last_route_segment() == "export" {
        return Ok(Response::ok(chat_export::export_json(page, now)));
    }
    let next = page.next.map(ExportCursor::to_text).map(|next| ("x-next-cursor", next));
    Ok(Response::csv(chat_export::export_csv(&page, cursor.is_none()), "chats.csv").with_headers(next))
}
