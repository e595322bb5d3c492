//! POST /widget/{widget_id}/history: returns the visitor's messages before a given one, continuing with earlier chats.
//! Messages that the visitor has hidden with clear_history, and expired ones, are not returned.

use std::process::ExitCode;

use shared::error::Error;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::public_base_url::PublicBaseUrl;
use shared::service::file_links::FileLinks;
use shared::service::widget::WidgetRequest;
use shared::service::widget_history::earlier_messages;
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::widget::HistoryRequest;

fn main() -> ExitCode {
    http::run_cross_origin(handle)
}

type Dependencies = (Directory, Chats, Connections, PublicBaseUrl);

async fn handle(dependencies: Dependencies, request: Request) -> Result<Response, Error> {
    let (directory, chats, connections, url) = dependencies;
    let accepted = WidgetRequest::accept(&directory, &connections, &request).await?;
    let requested: HistoryRequest = accepted.body_as()?;
    let visitor = accepted.visitor(&chats, &requested.token).await?;
    let links = FileLinks { directory: &directory, base_url: url.of_request(&request), now: accepted.now };
    Ok(Response::ok(earlier_messages((&chats, &links), &visitor, requested.position(), accepted.now).await?))
}
