//! POST /agent/chats/{chat_id}/typing: reports that the agent who has the chat has started (`typein`) or stopped
//! (`typeout`) typing. The notice is sent at most once, to the integrator or to the sockets of the widget's visitor,
//! and is not stored. Unlike a notice from a socket, it is not pushed to colleagues.

use std::process::ExitCode;

use shared::delivery::socket_gateway::SocketGateway;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::http::{self, Request, Response};
use shared::runtime::outbox::Outbox;
use shared::service::auth;
use shared::service::chat_access::ChatAccess;
use shared::service::push::PushService;
use shared::service::typing_notice::send_typing_notice;
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::directory::Directory;
use shared::wire::agent::{AgentTyping, QueuedTypingNotice};
use shared::wire::fields::values::{Name, SequentialNumber};

fn main() -> ExitCode {
    http::run(handle)
}

type Dependencies = (Directory, Chats, Connections, Outbox, SocketGateway);

async fn handle(dependencies: Dependencies, request: Request) -> Result<Response, Error> {
    let (directory, chats, connections, outbox, gateway) = dependencies;
    let caller = auth::agent(&connections, &request).await?;
    let typing = request.optional_body_as::<AgentTyping>()?.notice();
    let (chat_id, now) = (request.path_number("chat_id")?, clock::now());
    connections.count_agent_typing(&caller, now)?;
    let access = ChatAccess { directory: &directory, chats: &chats, session: &caller, now };
    let push = PushService {
        directory: &directory,
        chats: &chats,
        connections: &connections,
        gateway: &gateway,
        browsers: None,
        now,
    };
    send_typing_notice(&access, &push, &outbox, chat_id, typing).await?;
    Ok(Response::ok(QueuedTypingNotice { chat_id: SequentialNumber(chat_id), r#type: Name(typing) }))
}
