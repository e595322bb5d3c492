//! POST /widget/{widget_id}/history: returns the visitor's messages before a given one, continuing with earlier chats.
//! Messages that the visitor has hidden with clear_history, and expired ones, are not returned.

use std::process::ExitCode;

use shared::error::Error;
use shared::runtime::http::{self, Request, Response};
use shared::service::widget::WidgetRequest;
use shared::service::widget_history::earlier_messages;
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::widget::HistoryRequest;

fn main() -> ExitCode {
    http::run_cross_origin(handle)
}

type Dependencies = (Directory, Chats, Connections);

async fn handle((directory, chats, connections): Dependencies, request: Request) -> Result<Response, Error> {
    let accepted = WidgetRequest::accept(&directory, &connections, &request).await?;
    let requested: HistoryRequest = accepted.body_as()?;
    let visitor = accepted.visitor(&chats, &requested.token).await?;
    Ok(Response::ok(earlier_messages(&chats, &visitor, requested.position(), accepted.now).await?))
}
