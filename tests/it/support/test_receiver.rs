//! An HTTP server on a free port that acts as an integrator, a bot provider, a webhook or a telephony provider. It
//! records every request and sends configured responses.
//!
//! The server reads and writes raw HTTP/1.1, because some tests check how requests are framed, and others need
//! responses that no HTTP library would send.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use standardwebhooks::Webhook;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::{JoinHandle, JoinSet};

use crate::project::openapi_contract;
use crate::support::wait::wait_for;

#[derive(Debug, Clone)]
pub enum CannedResponse {
    Json(u16, Value),
    Text(u16, &'static str, String),
    Redirect(String),
    Delayed(Duration, Box<CannedResponse>),
    /// Reads the request and never responds.
    Hang,
    /// Sends the response headers, then one byte of the body every 200 ms.
    SlowBody,
    /// Reads the request and closes the connection without a response.
    CloseConnection,
    /// Sends status 200 and a JSON string of this many characters.
    LargeBody(usize),
}

impl CannedResponse {
    pub fn ok() -> Self {
        Self::Json(200, json!({"result": "ok"}))
    }

    pub fn error(code: i64, message: &str) -> Self {
        Self::Json(200, json!({"error": {"code": code, "message": message}}))
    }
}

#[derive(Debug, Clone)]
pub struct ReceivedRequest {
    pub at: Instant,
    /// From the request line to the end of the body.
    pub took: Duration,
    pub method: String,
    pub path: String,
    pub headers: BTreeMap<String, String>,
    pub body: Vec<u8>,
}

impl ReceivedRequest {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("the body is JSON")
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    /// Returns whether one of the request's signatures was made with this secret, at any time: the clock of the host
    /// may have been advanced.
    pub fn is_signed_with(&self, secret: &str) -> bool {
        let header = |name| self.header(name).unwrap_or_else(|| panic!("no {name}"));
        let timestamp = header("webhook-timestamp").parse().unwrap();
        let expected = Webhook::new(secret).unwrap().sign(header("webhook-id"), timestamp, &self.body).unwrap();
        header("webhook-signature").split(' ').any(|signature| signature == expected)
    }

    pub fn text(&self) -> String {
        self.json()["message"]["text"].as_str().unwrap_or_default().to_owned()
    }
}

type Handler = Arc<dyn Fn(ReceivedRequest) -> BoxFuture<'static, CannedResponse> + Send + Sync>;

enum ResponseSource {
    Sequence(VecDeque<CannedResponse>),
    Handler(Handler),
}

struct ReceiverState {
    connections: usize,
    requests: Vec<ReceivedRequest>,
    source: ResponseSource,
}

/// A running receiver. When it is dropped, it stops listening, closes all connections, and checks all requests it has
/// received against the OpenAPI document.
pub struct TestReceiver {
    port: u16,
    state: Arc<Mutex<ReceiverState>>,
    server: JoinHandle<()>,
    is_checked: bool,
}

impl Drop for TestReceiver {
    fn drop(&mut self) {
        self.server.abort();
        if self.is_checked && !std::thread::panicking() {
            self.requests().iter().for_each(openapi_contract::check_sent);
        }
    }
}

/// Binds a port that no receiver has had. On a host that an earlier test has used, deliveries to the receivers of that
/// test, which are gone, can still be attempted.
async fn bind_new_port() -> TcpListener {
    static USED: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());
    let address = if host_name() == LOOPBACK { LOOPBACK } else { "0.0.0.0" };
    loop {
        let listener = TcpListener::bind((address, 0)).await.unwrap();
        if USED.lock().unwrap().insert(listener.local_addr().unwrap().port()) {
            return listener;
        }
    }
}

impl TestReceiver {
    pub async fn start(response: CannedResponse) -> Self {
        Self::start_sequence([response]).await
    }

    /// Starts a receiver that sends these responses in order and then repeats the last one.
    pub async fn start_sequence(responses: impl IntoIterator<Item = CannedResponse>) -> Self {
        let listener = bind_new_port().await;
        let port = listener.local_addr().unwrap().port();
        let source = ResponseSource::Sequence(responses.into_iter().collect());
        let state = Arc::new(Mutex::new(ReceiverState { connections: 0, requests: Vec::new(), source }));
        let server = tokio::spawn(serve(listener, state.clone()));
        Self { port, state, server, is_checked: true }
    }

    /// Makes the receiver a stand-in for the service, whose requests are not described as webhooks.
    pub fn without_document_check(mut self) -> Self {
        self.is_checked = false;
        self
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn url(&self) -> String {
        format!("http://{}:{}/hook", host_name(), self.port)
    }

    pub fn respond_with(&self, response: CannedResponse) {
        self.respond_in_order([response]);
    }

    /// From now on, sends these responses in order and then repeats the last one.
    pub fn respond_in_order(&self, responses: impl IntoIterator<Item = CannedResponse>) {
        self.state.lock().unwrap().source = ResponseSource::Sequence(responses.into_iter().collect());
    }

    /// Delays the responses to later requests until the test sends a value through the returned channel, and then sends
    /// `response`.
    pub fn respond_on_release(&self, response: CannedResponse) -> watch::Sender<()> {
        let (release, released) = watch::channel(());
        self.respond_by(move |_| {
            let (mut released, response) = (released.clone(), response.clone());
            async move {
                // An error means that the test has ended and dropped the sender. The response is sent anyway.
                let _ = released.changed().await;
                response
            }
        });
        release
    }

    /// From now on, sends this response to each request as soon as the test has added a permit for it.
    pub fn respond_with_permit(&self, response: CannedResponse) -> Arc<Semaphore> {
        let permits = Arc::new(Semaphore::new(0));
        let added = Arc::clone(&permits);
        self.respond_by(move |_| {
            let (added, response) = (Arc::clone(&added), response.clone());
            async move {
                added.acquire().await.unwrap().forget();
                response
            }
        });
        permits
    }

    pub fn respond_by<HandlerFuture>(&self, handler: impl Fn(ReceivedRequest) -> HandlerFuture + Send + Sync + 'static)
    where
        HandlerFuture: Future<Output = CannedResponse> + Send + 'static,
    {
        let handler: Handler = Arc::new(move |request| Box::pin(handler(request)));
        self.state.lock().unwrap().source = ResponseSource::Handler(handler);
    }

    pub fn connections(&self) -> usize {
        self.state.lock().unwrap().connections
    }

    pub fn requests(&self) -> Vec<ReceivedRequest> {
        self.state.lock().unwrap().requests.clone()
    }

    pub fn texts(&self) -> Vec<String> {
        self.requests().iter().map(ReceivedRequest::text).collect()
    }

    /// Waits until at least `count` requests have arrived, and returns all of them.
    pub async fn wait_for_requests(&self, count: usize, within: Duration) -> Vec<ReceivedRequest> {
        wait_for(&format!("{count} requests"), within, async || {
            let requests = self.requests();
            if requests.len() >= count { Ok(requests) } else { Err(requests) }
        })
        .await
    }
}

const LOOPBACK: &str = "127.0.0.1";

/// Returns the host name that the functions use to reach this machine. A deployed stack (`tests/deploy/run`) may need a
/// name other than the loopback address.
fn host_name() -> String {
    let name = std::env::var("SWITCHBOARD_RECEIVERS").unwrap_or_default();
    if name.is_empty() { LOOPBACK.to_owned() } else { name }
}

/// Returns a local port on which nothing is listening.
pub async fn unused_port() -> u16 {
    bind_new_port().await.local_addr().unwrap().port()
}

async fn serve(listener: TcpListener, state: Arc<Mutex<ReceiverState>>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        state.lock().unwrap().connections += 1;
        connections.spawn(handle_connection(stream, state.clone()));
    }
}

async fn handle_connection(stream: TcpStream, state: Arc<Mutex<ReceiverState>>) {
    let mut stream = BufReader::new(stream);
    let Some(request) = read_request(&mut stream).await else { return };
    let response = record_and_choose_response(&state, request).await;
    // Writing fails if the client has timed out and closed the connection, which some tests provoke.
    let _ = write_response(stream.get_mut(), response).await;
}

/// Records the request and chooses its response while holding the lock. Once a test has seen a request, the test can
/// therefore change only the responses to later requests.
async fn record_and_choose_response(state: &Mutex<ReceiverState>, request: ReceivedRequest) -> CannedResponse {
    let handler = {
        let mut state = state.lock().unwrap();
        state.requests.push(request.clone());
        match &mut state.source {
            ResponseSource::Sequence(responses) if responses.len() > 1 => return responses.pop_front().unwrap(),
            ResponseSource::Sequence(responses) => {
                return responses.front().expect("a response is configured").clone();
            }
            ResponseSource::Handler(handler) => Arc::clone(handler),
        }
    };
    handler(request).await
}

async fn read_request(stream: &mut BufReader<TcpStream>) -> Option<ReceivedRequest> {
    let request_line = read_line(stream).await?;
    let at = Instant::now();
    let mut parts = request_line.split(' ');
    let (method, path) = (parts.next()?.to_owned(), parts.next()?.to_owned());
    let mut headers = BTreeMap::new();
    loop {
        let line = read_line(stream).await?;
        let Some((name, value)) = line.split_once(':') else { break };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let body = match headers.get("content-length") {
        Some(length) => read_bytes(stream, length.parse().ok()?).await?,
        None => read_chunks(stream).await?,
    };
    Some(ReceivedRequest { at, took: at.elapsed(), method, path, headers, body })
}

async fn read_line(stream: &mut BufReader<TcpStream>) -> Option<String> {
    let mut line = String::new();
    stream.read_line(&mut line).await.ok().filter(|read| *read > 0)?;
    Some(line.trim_end().to_owned())
}

async fn read_bytes(stream: &mut BufReader<TcpStream>, length: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; length];
    stream.read_exact(&mut bytes).await.ok()?;
    Some(bytes)
}

async fn read_chunks(stream: &mut BufReader<TcpStream>) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let size = usize::from_str_radix(&read_line(stream).await?, 16).ok()?;
        body.extend(read_bytes(stream, size).await?);
        read_line(stream).await?;
        if size == 0 {
            return Some(body);
        }
    }
}

async fn write_response(stream: &mut TcpStream, response: CannedResponse) -> std::io::Result<()> {
    let mut response = response;
    while let CannedResponse::Delayed(delay, then) = response {
        tokio::time::sleep(delay).await;
        response = *then;
    }
    match response {
        CannedResponse::Json(status, body) => {
            write_whole_response(stream, status, "content-type: application/json", body.to_string().as_bytes()).await
        }
        CannedResponse::Text(status, kind, body) => {
            write_whole_response(stream, status, &format!("content-type: {kind}"), body.as_bytes()).await
        }
        CannedResponse::Redirect(to) => write_whole_response(stream, 302, &format!("location: {to}"), b"").await,
        CannedResponse::LargeBody(size) => {
            let body = format!("\"{}\"", "x".repeat(size));
            write_whole_response(stream, 200, "content-type: application/json", body.as_bytes()).await
        }
        CannedResponse::CloseConnection => stream.shutdown().await,
        CannedResponse::Hang => std::future::pending().await,
        CannedResponse::SlowBody => write_slowly(stream).await,
        CannedResponse::Delayed(..) => unreachable!("unwrapped above"),
    }
}

async fn write_whole_response(stream: &mut TcpStream, status: u16, header: &str, body: &[u8]) -> std::io::Result<()> {
    let length = body.len();
    let head = format!("HTTP/1.1 {status} X\r\n{header}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body).await?;
    stream.shutdown().await
}

async fn write_slowly(stream: &mut TcpStream) -> std::io::Result<()> {
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n").await?;
    loop {
        stream.write_all(b" ").await?;
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}
