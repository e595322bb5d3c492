//! $default of the WebSocket API: handles a frame from an agent's client or a widget visitor's client.
//!
//! An agent's `ping` gets a `pong` frame and keeps the session and the presence alive; `typing` does the same as POST
//! /agent/chats/{chat_id}/typing, and is also pushed to the colleagues who see the chat; `seen` is pushed to the
//! visitor of a widget; `subscribe` says what the client shows, and tells the colleagues who show the same chat. If the
//! session has ended, the socket is closed. A socket that has missed a push is closed too; its client then connects
//! again and reads what it has missed. A visitor can send `ping`, and `typing` with the text that has been typed so
//! far. The response to a rejected frame is an `error` frame. If the service fails, the invocation fails, and API
//! Gateway sends its own error frame.

use std::process::ExitCode;

use shared::chats::visitor::set_visitor_typing::set_visitor_typing;
use shared::chats::visitor::stop_answer::stop_answer;
use shared::delivery::socket_gateway::SocketGateway;
use shared::domain::chats::chat_state::ChatEvent;
use shared::domain::chats::message_content::TypingNotice;
use shared::domain::socket::{AgentSocket, Socket, VisitorSocket};
use shared::domain::timestamp::Timestamp;
use shared::error::Error;
use shared::runtime::clock;
use shared::runtime::outbox::Outbox;
use shared::runtime::socket::{self, SocketEvent};
use shared::service::chat_access::ChatAccess;
use shared::service::push::PushService;
use shared::service::typing_notice::send_typing_notice;
use shared::store::chats::Chats;
use shared::store::connections::Connections;
use shared::store::connections::sessions::Session;
use shared::store::connections::sockets::SocketState;
use shared::store::directory::Directory;
use shared::wire::sockets::socket_frame::{self, ClientFrame, VisitorFrame};

fn main() -> ExitCode {
    socket::run(handle)
}

type Dependencies = (Connections, Directory, Chats, Outbox, SocketGateway);

async fn handle(dependencies: Dependencies, event: SocketEvent) -> Result<(), Error> {
    let (connections, directory, chats, outbox, gateway) = dependencies;
    let (connection_id, now) = (event.connection_id(), clock::now());
    let push = PushService {
        directory: &directory,
        chats: &chats,
        connections: &connections,
        gateway: &gateway,
        browsers: None,
        now,
    };
    // `None` means that the socket or its session has ended, or that the client must connect again.
    let result = match open_socket(&connections, connection_id, now).await? {
        Some(Socket::Visitor(socket)) => Some(respond_to_visitor(&push, &socket, event.body()).await),
        Some(Socket::Agent(socket)) => match session_of(&connections, &socket, now).await? {
            Some(session) => Some(respond(&push, &outbox, &session, &socket, event.body()).await),
            None => None,
        },
        None => None,
    };
    let Some(result) = result else {
        gateway.close(connection_id).await;
        return Ok(());
    };
    let response = match result {
        Err(error) if error.status() >= 500 => return Err(error),
        Err(error) => Some(socket_frame::error_frame(&error)),
        Ok(response) => response,
    };
    if let Some(frame) = response {
        // An error is ignored: if the socket has been closed in the meantime, nobody waits for the response.
        let _ = gateway.send(connection_id, &frame).await;
    }
    Ok(())
}

/// Returns the socket with this connection id, or `None` if there is no such socket or if the socket has missed a push.
/// A socket that has missed a push is also removed.
async fn open_socket(connections: &Connections, connection_id: &str, now: Timestamp) -> Result<Option<Socket>, Error> {
    let Some(SocketState { socket, has_missed_push }) = connections.socket_state(connection_id).await? else {
        return Ok(None);
    };
    if has_missed_push {
        connections.remove_socket(&socket, now).await?;
    }
    Ok((!has_missed_push).then_some(socket))
}

/// Returns the session with which the socket was opened. If it has ended, removes the socket and returns `None`.
async fn session_of(connections: &Connections, socket: &AgentSocket, now: Timestamp) -> Result<Option<Session>, Error> {
    let session = connections.session_of_socket(socket, now).await?;
    if session.is_none() {
        connections.remove_agent_socket(socket, now).await?;
    }
    Ok(session)
}

async fn respond_to_visitor(
    push: &PushService<'_>,
    socket: &VisitorSocket,
    frame: &str,
) -> Result<Option<String>, Error> {
    push.connections.count_visitor_frame(socket, push.now).await?;
    match VisitorFrame::parse(frame)? {
        VisitorFrame::Ping => Ok(Some(socket_frame::pong_frame())),
        VisitorFrame::Typing { typing, text } => {
            push.directory.cached_settings(&socket.account_id).await?.require_not_suspended()?;
            // A page that was opened before the preview was switched off still sends the text.
            let channel = push.directory.cached_channel(&socket.channel_id).await?;
            let widget = channel.as_ref().and_then(|channel| channel.settings.widget());
            let text = text.filter(|_| widget.is_some_and(|widget| widget.typing_preview));
            let since = (typing == TypingNotice::Start).then_some((push.now, text.as_deref()));
            set_visitor_typing(push.chats, &socket.channel_id, &socket.external_id, since).await?;
            Ok(None)
        }
        VisitorFrame::StopAnswer => {
            stop_answer(push.chats, &socket.channel_id, &socket.external_id).await?;
            Ok(None)
        }
    }
}

async fn respond(
    push: &PushService<'_>,
    outbox: &Outbox,
    session: &Session,
    socket: &AgentSocket,
    frame: &str,
) -> Result<Option<String>, Error> {
    let access = ChatAccess { directory: push.directory, chats: push.chats, session, now: push.now };
    match ClientFrame::parse(frame)? {
        ClientFrame::Ping => Ok(Some(socket_frame::pong_frame())),
        ClientFrame::Typing { chat_id, typing } => {
            push.connections.count_agent_typing(session, push.now)?;
            let chat = send_typing_notice(&access, push, outbox, chat_id, typing).await?;
            let is_typing = typing == TypingNotice::Start;
            // An error is only logged, because the notice to the visitor has already been sent or queued.
            if let Err(error) = push.push_agent_typing(&chat, &access.session.agent, is_typing).await {
                tracing::warn!(context = error.context(), chat_id, "typing notice not pushed");
            }
            Ok(None)
        }
        ClientFrame::Seen { chat_id, seq } => {
            push.connections.count_agent_typing(session, push.now)?;
            let chat = access.chat(chat_id).await?;
            chat.state.after_event(ChatEvent::AgentWrites(&session.agent))?;
            push.push_seen_to_visitor(&chat, seq).await?;
            Ok(None)
        }
        ClientFrame::Subscribe(shown) => {
            let response = socket_frame::subscribed_frame(&shown);
            let opened = shown.open_chat;
            push.connections.subscribe(socket, shown).await?;
            // An error is only logged, because the subscription is stored.
            let left = socket.subscription.as_ref().and_then(|before| before.open_chat);
            if let Err(error) = push.push_viewers(socket, left, opened).await {
                tracing::warn!(context = error.context(), "viewers not pushed");
            }
            Ok(Some(response))
        }
    }
}
