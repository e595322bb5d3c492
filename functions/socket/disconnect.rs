//! $disconnect of the WebSocket API: removes a socket that has been closed. If it was an agent's last socket, the agent
//! counts as offline 90 seconds later. The colleagues who show the same chat are told that the agent has left it. API
//! Gateway does not guarantee the $disconnect event. If the event is missing, `deliver-push` removes the socket when it
//! cannot send a push to the socket; without a push, the socket expires 130 minutes after it was opened.

use std::process::ExitCode;

use shared::delivery::socket_gateway::SocketGateway;
use shared::domain::socket::{Socket, VisitorSocket};
use shared::domain::timestamp::Timestamp;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::socket::{self, SocketEvent};
use shared::service::push::PushService;
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;

fn main() -> ExitCode {
    socket::run(handle)
}

type Dependencies = (Connections, Directory, Chats, SocketGateway);

async fn handle(dependencies: Dependencies, event: SocketEvent) -> Result<(), Error> {
    let (connections, directory, chats, gateway) = dependencies;
    let Some(socket) = connections.socket(event.connection_id()).await? else { return Ok(()) };
    let now = clock::now();
    // Before the socket is removed, because a visitor without a socket counts as not having seen later messages.
    if let Socket::Visitor(socket) = &socket {
        record_visitor_seen(&connections, &directory, socket, now).await?;
    }
    connections.remove_socket(&socket, now).await?;
    let Socket::Agent(socket) = socket else { return Ok(()) };
    let push = PushService {
        directory: &directory,
        chats: &chats,
        connections: &connections,
        gateway: &gateway,
        browsers: None,
        now,
    };
    let left = socket.subscription.as_ref().and_then(|shown| shown.open_chat);
    push.push_viewers(&socket, left, None).await
}

/// Records that the visitor has seen what was written until now, if the account sends later messages by e-mail.
async fn record_visitor_seen(
    connections: &Connections,
    directory: &Directory,
    socket: &VisitorSocket,
    now: Timestamp,
) -> Result<(), Error> {
    let settings = directory.cached_settings(&socket.account_id).await?;
    if settings.email.as_ref().is_some_and(|email| email.answers_to_visitor) {
        connections.record_visitor_seen(&socket.channel_id, &socket.external_id, now).await?;
    }
    Ok(())
}
