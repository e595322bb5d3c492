//! Serves an open connection: passes the client's messages to the functions and the functions' messages to the client,
//! until one side closes the connection, it has been idle or open for too long, or the host stops.

use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tokio::io::AsyncWriteExt;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{sleep, timeout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::frame::Utf8Bytes;
use tokio_tungstenite::tungstenite::protocol::{Message, Role, WebSocketConfig};

use super::close_reason::CloseReason;
use super::open_connections::{Activity, ConnectionInfo, Outbox, QueuedMessage};
use super::{SocketApi, SocketTimeouts};
use crate::clock::Clock;

/// API Gateway's limit on the size of a message, in both directions.
pub(super) const MAX_MESSAGE_BYTES: usize = 128 * 1024;

/// API Gateway's limit on the size of a frame from the client. A larger message must be split into several frames.
const MAX_FRAME_BYTES: usize = 32 * 1024;

/// The buffer for incoming data is small at first, because most connections are idle.
const READ_BUFFER_BYTES: usize = 4 * 1024;

/// While this many events wait for a function, no message is read.
const MAX_PENDING_EVENTS: usize = 8;

/// The maximum time for sending the queued messages of a deleted connection, and for completing a closing handshake.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

type Socket = WebSocketStream<TokioIo<Upgraded>>;

enum Event {
    Message(Utf8Bytes),
    Disconnect(CloseReason),
}

/// Serves a connection. Returns after the connection has been closed and the `$disconnect` function has been invoked.
pub(super) async fn serve(
    api: &SocketApi,
    info: &Arc<ConnectionInfo>,
    outbox: Outbox,
    upgraded: Upgraded,
    stop: &mut watch::Receiver<bool>,
) {
    let socket = WebSocketStream::from_raw_socket(TokioIo::new(upgraded), Role::Server, Some(socket_config())).await;
    let (events, pending_events) = mpsc::channel(MAX_PENDING_EVENTS);
    let transfer = transfer_messages(api, info, outbox, socket, &events, stop);
    tokio::join!(transfer, invoke_in_order(api, info, pending_events));
}

fn socket_config() -> WebSocketConfig {
    WebSocketConfig::default()
        .max_message_size(Some(MAX_MESSAGE_BYTES))
        .max_frame_size(Some(MAX_FRAME_BYTES))
        .read_buffer_size(READ_BUFFER_BYTES)
        .write_buffer_size(0)
}

async fn invoke_in_order(api: &SocketApi, info: &ConnectionInfo, mut events: mpsc::Receiver<Event>) {
    while let Some(event) = events.recv().await {
        match event {
            Event::Message(text) => api.receive_message(info, &text).await,
            Event::Disconnect(reason) => return api.disconnect(info, &reason).await,
        }
    }
}

/// Transfers messages in both directions until the connection ends, then closes it.
async fn transfer_messages(
    api: &SocketApi,
    info: &ConnectionInfo,
    mut outbox: Outbox,
    socket: Socket,
    events: &mpsc::Sender<Event>,
    stop: &mut watch::Receiver<bool>,
) {
    let (mut outgoing, mut incoming) = socket.split();
    let reason = tokio::select! {
        reason = read_messages(&mut incoming, &info.activity, events) => reason,
        reason = write_messages(&mut outgoing, &info.activity, &mut outbox.messages) => reason,
        reason = wait_for_deletion(&mut outbox.deletion) => reason,
        reason = wait_for_timeout(&info.activity, api.timeouts(), &api.clock) => reason,
        // An error means that the host was dropped.
        _ = stop.wait_for(|is_requested| *is_requested) => CloseReason::GoingAway,
    };
    api.connections.remove(&info.id);
    let close = async {
        if let Ok(socket) = outgoing.reunite(incoming) {
            // A client that does not complete the closing handshake in time is disconnected.
            let _ = timeout(CLOSE_TIMEOUT, close(socket, &reason)).await;
        }
    };
    // Sending cannot fail, because the receiver is dropped only after this event.
    let _ = tokio::join!(close, events.send(Event::Disconnect(reason.clone())));
}

async fn read_messages(
    incoming: &mut SplitStream<Socket>,
    activity: &Activity,
    events: &mpsc::Sender<Event>,
) -> CloseReason {
    // A message is read only when there is room for its event, because a message that waits for room would be lost if
    // this future were dropped.
    while let Ok(slot) = events.reserve().await {
        let message = incoming.next().await;
        activity.record();
        match message {
            Some(Ok(Message::Text(text))) => slot.send(Event::Message(text)),
            Some(Ok(Message::Binary(_))) => return CloseReason::BinaryMessage,
            Some(Ok(Message::Close(frame))) => return CloseReason::Client(frame),
            // The WebSocket library responds to a ping.
            Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => {}
            Some(Err(error)) => return CloseReason::of_error(&error),
            None => return CloseReason::ConnectionLost,
        }
    }
    CloseReason::GoingAway
}

/// Writes the functions' messages until a write fails, or until the connection has been deleted and all queued messages
/// have been sent.
async fn write_messages(
    outgoing: &mut SplitSink<Socket, Message>,
    activity: &Activity,
    messages: &mut mpsc::UnboundedReceiver<QueuedMessage>,
) -> CloseReason {
    while let Some(message) = messages.recv().await {
        if outgoing.send(Message::Text(message.text.clone())).await.is_err() {
            return CloseReason::ConnectionLost;
        }
        activity.record();
    }
    CloseReason::Deleted
}

/// Waits until the connection has been deleted, and gives queued messages some time to be sent.
async fn wait_for_deletion(deletion: &mut oneshot::Receiver<()>) -> CloseReason {
    // The sender never sends a value and is only dropped, so the result is always an error.
    let _ = deletion.await;
    sleep(CLOSE_TIMEOUT).await;
    CloseReason::Deleted
}

async fn wait_for_timeout(activity: &Activity, timeouts: SocketTimeouts, clock: &Clock) -> CloseReason {
    let idle = async {
        while activity.idle_for() < timeouts.idle {
            clock.sleep(timeouts.idle.saturating_sub(activity.idle_for())).await;
        }
    };
    tokio::select! {
        () = idle => {}
        () = clock.sleep(timeouts.lifetime) => {}
    }
    CloseReason::GoingAway
}

/// Completes the closing handshake, then closes the TCP connection. Data that is still arriving is read and discarded,
/// because otherwise the operating system would reset the connection and the client might not see the close frame.
async fn close(mut socket: Socket, reason: &CloseReason) {
    let closed = match reason.frame_to_send() {
        Some(frame) => socket.close(Some(frame)).await,
        // `flush` sends the response to the client's close frame.
        None => socket.flush().await,
    };
    if closed.is_err() {
        return;
    }
    while let Some(Ok(_)) = socket.next().await {}
    let mut stream = socket.into_inner();
    if stream.shutdown().await.is_ok() {
        let _ = tokio::io::copy(&mut stream, &mut tokio::io::sink()).await;
    }
}
