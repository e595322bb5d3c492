//! An integrator's server: a real one, on a free port, that records what arrives and answers as told.
//!
//! It reads raw HTTP/1.1, because the tests look at the framing itself and because it must be able to behave
//! in ways no HTTP library would.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::contract;
use crate::wait::wait_for;

/// How a request is treated.
#[derive(Debug, Clone)]
pub enum Answer {
    Json(u16, Value),
    Text(u16, &'static str, String),
    Redirect(String),
    /// The whole answer takes this long.
    After(Duration, Box<Answer>),
    /// Reads the request and says nothing.
    Hang,
    /// Sends the head of an answer and then a byte now and then.
    Drip,
    Close,
    /// 200 and a JSON string of this many bytes.
    Flood(usize),
}

impl Answer {
    pub fn ok() -> Self {
        Self::Json(200, json!({"result": "ok"}))
    }

    pub fn error(code: i64, message: &str) -> Self {
        Self::Json(200, json!({"error": {"code": code, "message": message}}))
    }
}

#[derive(Debug, Clone)]
pub struct Request {
    pub at: Instant,
    pub method: String,
    pub path: String,
    pub headers: BTreeMap<String, String>,
    pub body: Vec<u8>,
}

impl Request {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("the body is JSON")
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    pub fn header_map(&self) -> HeaderMap {
        let parsed = |(name, value): (&String, &String)| {
            (HeaderName::try_from(name).unwrap(), HeaderValue::try_from(value).unwrap())
        };
        self.headers.iter().map(parsed).collect()
    }

    /// The text of a text message.
    pub fn text(&self) -> String {
        self.json()["message"]["text"].as_str().unwrap_or_default().to_owned()
    }
}

/// Does something about a request, then says how to answer it.
type Behaviour = Arc<dyn Fn(Request) -> BoxFuture<'static, Answer> + Send + Sync>;

/// Where answers come from.
enum Script {
    /// One after the other; the last stays.
    InOrder(VecDeque<Answer>),
    Acts(Behaviour),
}

struct State {
    connections: usize,
    requests: Vec<Request>,
    script: Script,
}

/// Stops listening when dropped; what it was sent is then held against the OpenAPI document.
pub struct Receiver {
    port: u16,
    state: Arc<Mutex<State>>,
    server: JoinHandle<()>,
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.server.abort();
        if !std::thread::panicking() {
            self.requests().iter().for_each(contract::check_sent);
        }
    }
}

impl Receiver {
    /// Answers every request in this way.
    pub async fn start(answer: Answer) -> Self {
        Self::start_with([answer]).await
    }

    /// Answers the first request with the first, and so on; the last answer stays.
    pub async fn start_with(answers: impl IntoIterator<Item = Answer>) -> Self {
        let listener = TcpListener::bind((if host() == LOOPBACK { LOOPBACK } else { "0.0.0.0" }, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let script = Script::InOrder(answers.into_iter().collect());
        let state = Arc::new(Mutex::new(State { connections: 0, requests: Vec::new(), script }));
        let server = tokio::spawn(serve(listener, state.clone()));
        Self { port, state, server }
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn url(&self) -> String {
        format!("http://{}:{}/hook", host(), self.port)
    }

    /// Answers in this way from now on.
    pub fn answer(&self, answer: Answer) {
        self.answer_with([answer]);
    }

    /// Answers the next request with the first, and so on; the last answer stays.
    pub fn answer_with(&self, answers: impl IntoIterator<Item = Answer>) {
        self.state.lock().unwrap().script = Script::InOrder(answers.into_iter().collect());
    }

    /// Answers in this way from now on, but not before the test sends.
    pub fn answer_when_told(&self, answer: Answer) -> watch::Sender<()> {
        let (release, released) = watch::channel(());
        self.act(move |_| {
            let (mut released, answer) = (released.clone(), answer.clone());
            async move {
                // A test that has ended sends no more.
                let _ = released.changed().await;
                answer
            }
        });
        release
    }

    /// From now on acts on each request before it is answered.
    pub fn act<Acting>(&self, behaviour: impl Fn(Request) -> Acting + Send + Sync + 'static)
    where
        Acting: Future<Output = Answer> + Send + 'static,
    {
        let behaviour: Behaviour = Arc::new(move |request| Box::pin(behaviour(request)));
        self.state.lock().unwrap().script = Script::Acts(behaviour);
    }

    pub fn connections(&self) -> usize {
        self.state.lock().unwrap().connections
    }

    pub fn requests(&self) -> Vec<Request> {
        self.state.lock().unwrap().requests.clone()
    }

    /// The texts received so far, in the order of their arrival.
    pub fn texts(&self) -> Vec<String> {
        self.requests().iter().map(Request::text).collect()
    }

    /// The requests, once there are at least `count`.
    pub async fn received(&self, count: usize, within: Duration) -> Vec<Request> {
        wait_for(&format!("{count} requests"), within, async || {
            let requests = self.requests();
            if requests.len() >= count { Ok(requests) } else { Err(requests) }
        })
        .await
    }
}

const LOOPBACK: &str = "127.0.0.1";

/// What the functions call this machine; those of a stack elsewhere (`tests/deploy/run`) know it by another name.
fn host() -> String {
    let name = std::env::var("SWITCHBOARD_RECEIVERS").unwrap_or_default();
    if name.is_empty() { LOOPBACK.to_owned() } else { name }
}

/// A local port on which nobody listens.
pub async fn dead_port() -> u16 {
    TcpListener::bind(("127.0.0.1", 0)).await.unwrap().local_addr().unwrap().port()
}

async fn serve(listener: TcpListener, state: Arc<Mutex<State>>) {
    while let Ok((stream, _)) = listener.accept().await {
        state.lock().unwrap().connections += 1;
        tokio::spawn(converse(stream, state.clone()));
    }
}

async fn converse(stream: TcpStream, state: Arc<Mutex<State>>) {
    let mut stream = BufReader::new(stream);
    let Some(request) = read_request(&mut stream).await else { return };
    let answer = take(&state, request).await;
    // A client that gave up is part of what is tested.
    let _ = respond(stream.get_mut(), answer).await;
}

/// Records the request and decides on its answer in one step: a test that has seen it changes only later answers.
async fn take(state: &Mutex<State>, request: Request) -> Answer {
    let behaviour = {
        let mut state = state.lock().unwrap();
        state.requests.push(request.clone());
        match &mut state.script {
            Script::InOrder(answers) if answers.len() > 1 => return answers.pop_front().unwrap(),
            Script::InOrder(answers) => return answers.front().expect("an answer is set").clone(),
            Script::Acts(behaviour) => Arc::clone(behaviour),
        }
    };
    behaviour(request).await
}

async fn read_request(stream: &mut BufReader<TcpStream>) -> Option<Request> {
    let first = read_line(stream).await?;
    let at = Instant::now();
    let mut words = first.split(' ');
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
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
    Some(Request { at, method, path, headers, body })
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

async fn respond(stream: &mut TcpStream, answer: Answer) -> std::io::Result<()> {
    let mut answer = answer;
    while let Answer::After(delay, then) = answer {
        tokio::time::sleep(delay).await;
        answer = *then;
    }
    match answer {
        Answer::Json(status, body) => {
            send(stream, status, "content-type: application/json", body.to_string().as_bytes()).await
        }
        Answer::Text(status, kind, body) => {
            send(stream, status, &format!("content-type: {kind}"), body.as_bytes()).await
        }
        Answer::Redirect(to) => send(stream, 302, &format!("location: {to}"), b"").await,
        Answer::Flood(size) => {
            let body = format!("\"{}\"", "x".repeat(size));
            send(stream, 200, "content-type: application/json", body.as_bytes()).await
        }
        Answer::Close => stream.shutdown().await,
        Answer::Hang => std::future::pending().await,
        Answer::Drip => drip(stream).await,
        Answer::After(..) => unreachable!("unwrapped above"),
    }
}

async fn send(stream: &mut TcpStream, status: u16, header: &str, body: &[u8]) -> std::io::Result<()> {
    let length = body.len();
    let head = format!("HTTP/1.1 {status} X\r\n{header}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body).await?;
    stream.shutdown().await
}

async fn drip(stream: &mut TcpStream) -> std::io::Result<()> {
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n").await?;
    loop {
        stream.write_all(b" ").await?;
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}
