//! POST /widget/{widget_id}/history: returns the visitor's messages before a given one, continuing with earlier chats.
//! Messages that the visitor has hidden with clear_history, and expired ones, are not returned.

use std::process::ExitCode;

use serde_json::json;
use shared::error::Error;
use shared::runtime::http::{self, Request, Response};
use shared::service::widget::WidgetRequest;
use shared::service::widget_history::{EarlierMessages, earlier_messages};
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::widget::parse_history_request;

fn main() -> ExitCode {
    http::run_cross_origin(handle)
}

type Dependencies = (Directory, Chats, Connections);

async fn handle((directory, chats, connections): Dependencies, request: Request) -> Result<Response, Error> {
    let accepted = WidgetRequest::accept(&directory, &connections, &request).await?;
    let position = parse_history_request(&accepted.body)?;
    let visitor = accepted.visitor(&chats).await?;
    let EarlierMessages { messages, has_earlier } = earlier_messages(&chats, &visitor, position, accepted.now).await?;
    Ok(Response::ok(json!({ "messages": messages, "has_earlier": has_earlier })))
}
