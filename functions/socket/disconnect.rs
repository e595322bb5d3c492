//! $disconnect of the WebSocket API: removes a socket that has been closed. If it was an agent's last socket, the agent
//! counts as offline 90 seconds later. API Gateway does not guarantee the $disconnect event. If the event is missing,
//! `deliver-push` removes the socket when it cannot send a push to the socket; without a push, the socket expires
//! 130 minutes after it was opened.

use std::process::ExitCode;

use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::socket::{self, SocketEvent};
use shared::store::connections::Connections;

fn main() -> ExitCode {
    socket::run(handle)
}

async fn handle(connections: Connections, event: SocketEvent) -> Result<(), Error> {
    match connections.socket(event.connection_id()).await? {
        Some(socket) => connections.remove_socket(&socket, clock::now()).await,
        None => Ok(()),
    }
}
