//! POST /widget/{widget_id}/socket-ticket: returns a ticket with which the visitor's widget can open one WebSocket
//! within 60 seconds. The widget connects to `url` and adds the ticket as the query parameter `ticket`.

use std::process::ExitCode;

use shared::error::Error;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::socket_url::SocketUrl;
use shared::service::widget::WidgetRequest;
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::agent::SocketTicket;
use shared::wire::widget::WidgetTicketRequest;

fn main() -> ExitCode {
    http::run_cross_origin(handle)
}

type Dependencies = (Directory, Chats, Connections, SocketUrl);

async fn handle((directory, chats, connections, url): Dependencies, request: Request) -> Result<Response, Error> {
    let accepted = WidgetRequest::accept(&directory, &connections, &request).await?;
    let WidgetTicketRequest { token } = accepted.body_as()?;
    let visitor = accepted.visitor(&chats, &token).await?;
    let ticket = connections.create_visitor_socket_ticket(&visitor, accepted.now).await?;
    Ok(Response::created(SocketTicket::new(ticket, url.as_str())))
}
