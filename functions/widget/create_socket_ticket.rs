//! POST /widget/{widget_id}/socket-ticket: returns a ticket with which the visitor's widget can open one WebSocket
//! within 60 seconds. The widget connects to `url` and adds the ticket as the query parameter `ticket`.

use std::process::ExitCode;

use serde_json::json;
use shared::domain::socket::SOCKET_TICKET_LIFETIME;
use shared::error::Error;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::socket_url::SocketUrl;
use shared::service::widget::WidgetRequest;
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;

fn main() -> ExitCode {
    http::run_cross_origin(handle)
}

type Dependencies = (Directory, Chats, Connections, SocketUrl);

async fn handle((directory, chats, connections, url): Dependencies, request: Request) -> Result<Response, Error> {
    let accepted = WidgetRequest::accept(&directory, &connections, &request).await?;
    let visitor = accepted.visitor(&chats).await?;
    let ticket = connections.create_visitor_socket_ticket(&visitor, accepted.now).await?;
    let expires_in = SOCKET_TICKET_LIFETIME.as_secs();
    Ok(Response::created(json!({ "ticket": ticket, "url": url.as_str(), "expires_in": expires_in })))
}
