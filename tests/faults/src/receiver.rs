//! HTTP servers that act as integrators, webhooks and a bot's provider. The mood of a server determines how the server
//! responds. If the server misbehaves, its mood may change every three seconds and is derived from the seed; otherwise,
//! the server accepts every request. A journal records every request that the server has read, together with the mood.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use local::faults::Generator;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::records::Records;

const MOOD_MS: u64 = 3_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Kind {
    Integrator,
    Webhook,
    Bot,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mood {
    Accept,
    /// Accepts after 800 ms.
    Slow,
    /// Responds with status 500.
    Fail,
    /// Rejects the request permanently.
    Reject,
    /// Never responds.
    Hang,
    /// Sends the response headers, then one byte of the body every 200 ms.
    Dribble,
    /// Closes the connection before it has read the request.
    CloseEarly,
    /// Processes the request and closes the connection without a response.
    CloseUnanswered,
    /// Only of messages that a program fetches: it has not acknowledged the message.
    Fetched,
}

#[derive(Clone, Serialize, Deserialize)]
pub struct JournalEntry {
    /// The time at which the whole request had arrived, in milliseconds since the start of the round.
    pub at_ms: u64,
    pub webhook_id: String,
    pub body: Value,
    pub mood: Mood,
    /// When the service confirmed that the message was acknowledged, if a program has fetched it.
    #[serde(default)]
    pub acknowledged_ms: Option<u64>,
}

impl std::fmt::Debug for JournalEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { at_ms, webhook_id, mood, .. } = self;
        write!(f, "{webhook_id} after {at_ms} ms: {mood:?}")
    }
}

pub struct Receiver {
    pub name: &'static str,
    pub kind: Kind,
    port: u16,
    shared: Arc<Shared>,
    server: JoinHandle<()>,
}

struct Shared {
    kind: Kind,
    generator: Generator,
    misbehaves: AtomicBool,
    records: Records,
    journal: Mutex<Vec<JournalEntry>>,
    /// Passes on the body of each request that the receiver processes, even if it then closes the connection. The bot
    /// reacts to these bodies; see [`Receiver::start`].
    accepted: mpsc::UnboundedSender<Value>,
}

impl Receiver {
    /// Starts a receiver. Also returns a channel with the bodies of the requests that the receiver processes.
    pub async fn start(
        name: &'static str,
        kind: Kind,
        misbehaves: bool,
        generator: &Generator,
        records: &Records,
    ) -> (Self, mpsc::UnboundedReceiver<Value>) {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (accepted, events) = mpsc::unbounded_channel();
        let shared = Arc::new(Shared {
            kind,
            generator: generator.part(name),
            misbehaves: AtomicBool::new(misbehaves),
            records: records.clone(),
            journal: Mutex::default(),
            accepted,
        });
        let server = tokio::spawn(serve(listener, Arc::clone(&shared)));
        (Self { name, kind, port, shared, server }, events)
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/in", self.port)
    }

    /// From now on, accepts the requests on new connections.
    pub fn behave(&self) {
        self.shared.misbehaves.store(false, Ordering::Relaxed);
    }

    pub fn journal(&self) -> Vec<JournalEntry> {
        self.shared.journal.lock().unwrap().clone()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Shared {
    fn mood(&self) -> Mood {
        if !self.misbehaves.load(Ordering::Relaxed) {
            return Mood::Accept;
        }
        let slot = self.records.now_ms() / MOOD_MS;
        let mut generator = self.generator.part(&slot.to_string());
        match generator.below(100) {
            0..35 => Mood::Accept,
            35..53 => Mood::Slow,
            53..65 => Mood::Fail,
            65..70 => Mood::Reject,
            70..80 => Mood::Hang,
            80..87 => Mood::Dribble,
            87..93 => Mood::CloseEarly,
            _ => Mood::CloseUnanswered,
        }
    }

    fn accepting_body(&self) -> Value {
        match self.kind {
            Kind::Integrator => json!({"result": "ok"}),
            Kind::Webhook => json!({"result": "OK"}),
            Kind::Bot => json!({}),
        }
    }

    fn rejecting_body(&self) -> Value {
        match self.kind {
            Kind::Integrator | Kind::Bot => json!({"error": {"code": 7, "message": "rejected"}}),
            Kind::Webhook => json!({"result": "FAILURE", "error_message": "rejected"}),
        }
    }
}

async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    while let Ok((stream, _)) = listener.accept().await {
        let shared = Arc::clone(&shared);
        // Ignore the result: `None` usually means that the connection was closed before the response was complete,
        // either by this receiver or by the client after its timeout.
        tokio::spawn(async move { answer(stream, &shared).await });
    }
}

async fn answer(stream: TcpStream, shared: &Shared) -> Option<()> {
    let mood = shared.mood();
    let mut stream = BufReader::new(stream);
    if mood == Mood::CloseEarly {
        return None;
    }
    let (headers, body) = read_request(&mut stream).await?;
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let webhook_id = headers.get("webhook-id").cloned().unwrap_or_default();
    let entry =
        JournalEntry { at_ms: shared.records.now_ms(), webhook_id, body: body.clone(), mood, acknowledged_ms: None };
    shared.journal.lock().unwrap().push(entry);
    let stream = stream.get_mut();
    match mood {
        Mood::Accept | Mood::Slow => {
            // Pass the body to the bot first: like a real bot, it may act before the response arrives.
            let _ = shared.accepted.send(body);
            if mood == Mood::Slow {
                sleep(Duration::from_millis(800)).await;
            }
            write_response(stream, 200, &shared.accepting_body()).await
        }
        Mood::CloseUnanswered => {
            let _ = shared.accepted.send(body);
            None
        }
        Mood::Fail => write_response(stream, 500, &json!({})).await,
        Mood::Reject => write_response(stream, 200, &shared.rejecting_body()).await,
        Mood::Hang => std::future::pending().await,
        Mood::Dribble => {
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n").await.ok()?;
            loop {
                stream.write_all(b" ").await.ok()?;
                sleep(Duration::from_millis(200)).await;
            }
        }
        Mood::CloseEarly | Mood::Fetched => None,
    }
}

async fn write_response(stream: &mut TcpStream, status: u16, body: &Value) -> Option<()> {
    let body = body.to_string();
    let length = body.len();
    let response = format!(
        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    );
    stream.write_all(response.as_bytes()).await.ok()?;
    stream.shutdown().await.ok()
}

async fn read_request(stream: &mut BufReader<TcpStream>) -> Option<(BTreeMap<String, String>, Vec<u8>)> {
    read_line(stream).await?;
    let mut headers = BTreeMap::new();
    loop {
        let line = read_line(stream).await?;
        let Some((name, value)) = line.split_once(':') else { break };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length")?.parse().ok()?;
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    Some((headers, body))
}

async fn read_line(stream: &mut BufReader<TcpStream>) -> Option<String> {
    let mut line = String::new();
    stream.read_line(&mut line).await.ok().filter(|read| *read > 0)?;
    Some(line.trim_end().to_owned())
}
