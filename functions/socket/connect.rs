//! $connect of the WebSocket API: opens a socket with the ticket in the query parameter `ticket`. An unknown, used or
//! expired ticket, the ticket of a session that has ended, and the ticket of a visitor who already has 20 sockets are
//! rejected with 401, and the connection is refused.

use std::process::ExitCode;

use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::socket::{self, SocketEvent};
use shared::store::connections::Connections;

fn main() -> ExitCode {
    socket::run(handle)
}

async fn handle(connections: Connections, event: SocketEvent) -> Result<(), Error> {
    let ticket = event.query("ticket").ok_or(Error::Unauthorized)?;
    let socket = connections.open_socket(ticket, event.connection_id(), clock::now()).await?;
    socket.map(|_| ()).ok_or(Error::Unauthorized)
}
