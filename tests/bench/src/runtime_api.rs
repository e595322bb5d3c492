//! Lambda's Runtime API for one process. It records when the process asks for an event and when it responds.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::serve::ListenerExt;
use tokio::net::TcpListener;
use tokio::sync::{Mutex, mpsc};
use tokio::task::JoinHandle;

use crate::error::Error;

pub(crate) enum Signal {
    RequestedEvent(Instant),
    Answered(Instant, Bytes),
    /// The process reported an error, with this body.
    Failed(Bytes),
}

/// Dropping this value stops the server.
pub(crate) struct RuntimeApi {
    pub address: SocketAddr,
    events: mpsc::Sender<String>,
    signals: mpsc::UnboundedReceiver<Signal>,
    server: JoinHandle<()>,
}

struct Mailbox {
    events: Mutex<mpsc::Receiver<String>>,
    signals: mpsc::UnboundedSender<Signal>,
}

impl Drop for RuntimeApi {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl RuntimeApi {
    pub async fn start() -> Result<Self, Error> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let (events, event_receiver) = mpsc::channel(1);
        let (signal_sender, signals) = mpsc::unbounded_channel();
        let mailbox = Mailbox { events: Mutex::new(event_receiver), signals: signal_sender };
        let router = Router::new()
            .route("/2018-06-01/runtime/invocation/next", get(next_event))
            .route("/2018-06-01/runtime/invocation/{request_id}/response", post(on_answer))
            .route("/2018-06-01/runtime/invocation/{request_id}/error", post(on_failure))
            .route("/2018-06-01/runtime/init/error", post(on_failure))
            .with_state(Arc::new(mailbox));
        let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
        let server = tokio::spawn(async move { drop(axum::serve(listener, router).await) });
        Ok(Self { address, events, signals, server })
    }

    /// Passes an event to the process: immediately if the process is waiting for one, otherwise when it next asks.
    pub async fn send(&self, event: String) -> Result<(), Error> {
        self.events.send(event).await.map_err(|_| Error::unexpected("the Runtime API has stopped"))
    }

    pub async fn next_signal(&mut self) -> Result<Signal, Error> {
        self.signals.recv().await.ok_or_else(|| Error::unexpected("the Runtime API has stopped"))
    }
}

async fn next_event(State(mailbox): State<Arc<Mailbox>>) -> Response {
    // Sending a signal fails only while the server is being stopped.
    let _ = mailbox.signals.send(Signal::RequestedEvent(Instant::now()));
    let Some(event) = mailbox.events.lock().await.recv().await else { return StatusCode::GONE.into_response() };
    let headers = [
        ("content-type", "application/json"),
        ("lambda-runtime-aws-request-id", "8476a536-e9f4-11e8-9739-2dfe598c3fcd"),
        ("lambda-runtime-deadline-ms", "32503680000000"),
        ("lambda-runtime-invoked-function-arn", "arn:aws:lambda:us-east-1:000000000000:function:bench"),
        ("lambda-runtime-trace-id", "Root=1-5bef4de7-ad49b0e87f6ef6c87fc2e700;Sampled=0"),
    ];
    (headers, event).into_response()
}

async fn on_answer(State(mailbox): State<Arc<Mailbox>>, body: Bytes) -> StatusCode {
    let _ = mailbox.signals.send(Signal::Answered(Instant::now(), body));
    StatusCode::ACCEPTED
}

async fn on_failure(State(mailbox): State<Arc<Mailbox>>, body: Bytes) -> StatusCode {
    let _ = mailbox.signals.send(Signal::Failed(body));
    StatusCode::ACCEPTED
}
