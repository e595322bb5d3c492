//! Pushes changes to the sockets of agents and of widgets' visitors. The streams of the tables invoke this function,
//! usually within 300 ms of a change: Chats (headers, entries, panels and visitors), Connections (presence, and
//! sessions that have ended) and Directory (channels, and items of accounts such as settings, agents and departments).
//!
//! A batch costs these table requests for each account:
//! - chat of a widget with a new answer, call or state: one eventually consistent query of the visitor's sockets, and
//!   one read of the chat if the batch does not contain its header
//! - sockets: one eventually consistent query. If the account has no open socket, the batch costs nothing more. A batch
//!   without a change that agents or visitors see makes no request at all
//! - changed chats: one batch that reads the headers
//! - visibility, only for agents without the admin role: one batch that reads the channels of the chats, and one
//!   query of the roster (the account's agents and departments). Both are cached for ten seconds; the roster is queried
//!   again if the cached copy may be stale
//! - settings: one read, cached for ten seconds
//! - changed visitor: one read of the panel, and another one if the custom data has changed
//! - changed panel: in a chat of a widget, one read of the visitor. If the invitation has changed, one more in any chat
//! - session that has ended: one query of the sockets, and three writes for each of its sockets
//! - socket that has been closed, or that does not accept a frame within a second: three writes for an agent, two for a
//!   visitor
//! - socket for which the gateway rejects a frame: one write

use std::process::ExitCode;

use shared::delivery::socket_gateway::SocketGateway;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::table_stream::{self, ItemChange};
use shared::service::push::PushService;
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    table_stream::run(handle).await
}

type Dependencies = (Connections, Directory, Chats, SocketGateway);

async fn handle((connections, directory, chats, gateway): Dependencies, changes: Vec<ItemChange>) -> Result<(), Error> {
    let (connections, directory, chats, gateway) = (&connections, &directory, &chats, &gateway);
    PushService { directory, chats, connections, gateway, now: clock::now() }.push(changes).await
}
