//! POST /agent/socket-ticket: returns a ticket with which the agent's client can open one WebSocket within 60 seconds.
//! The client connects to `url` and adds the ticket as the query parameter `ticket`. An agent can get 30 tickets in
//! ten seconds; further requests are rejected with 429. If several processes serve the agent, each additional one can
//! let up to nine more requests through.

use std::process::ExitCode;

use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::socket_url::SocketUrl;
use shared::service::auth;
use shared::store::connections::Connections;
use shared::wire::agent::SocketTicket;

fn main() -> ExitCode {
    http::run(handle)
}

async fn handle((connections, url): (Connections, SocketUrl), request: Request) -> Result<Response, Error> {
    let caller = auth::agent(&connections, &request).await?;
    let now = clock::now();
    connections.count_socket_ticket(&caller.account_id, caller.agent.agent_id, now).await?;
    let ticket = connections.create_socket_ticket(&caller, now).await?;
    Ok(Response::created(SocketTicket::new(ticket, url.as_str())))
}
