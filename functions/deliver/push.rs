//! Pushes changes to the sockets of agents and of widgets' visitors. The streams of the tables invoke this function,
//! usually within 300 ms of a change: Chats (headers, entries, panels and visitors), Connections (presence, and
//! sessions that have ended) and Directory (channels, and items of accounts such as settings, agents and departments).

use std::process::ExitCode;

use shared::delivery::socket_gateway::SocketGateway;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::table_stream::{self, ItemChange};
use shared::service::push::PushService;
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;

fn main() -> ExitCode {
    table_stream::run(handle)
}

type Dependencies = (Connections, Directory, Chats, SocketGateway);

async fn handle((connections, directory, chats, gateway): Dependencies, changes: Vec<ItemChange>) -> Result<(), Error> {
    let (connections, directory, chats, gateway) = (&connections, &directory, &chats, &gateway);
    PushService { directory, chats, connections, gateway, now: clock::now() }.push(changes).await
}
