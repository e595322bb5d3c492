//! A WebSocket client of an agent or a visitor.

use std::net::Ipv4Addr;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use reqwest::Url;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async};

use crate::support::api_client::{ApiClient, TestAgent};
use crate::support::wait::WAIT_TIMEOUT;

#[derive(Debug)]
pub struct AgentSocket(WebSocketStream<TcpStream>);

/// Returns the URL that opens a socket, with a new ticket.
pub async fn socket_url(client: &ApiClient) -> String {
    let ticket = client.post("/agent/socket-ticket", &json!({})).await.expect(201);
    format!("{}?ticket={}", ticket["url"].as_str().unwrap(), ticket["ticket"].as_str().unwrap())
}

impl AgentSocket {
    pub async fn open(agent: &TestAgent) -> Self {
        Self::connect(&socket_url(&agent.client).await).await.expect("the ticket is valid")
    }

    /// Opens a socket. Fails with the status of the response if the handshake is refused.
    pub async fn connect(url: &str) -> Result<Self, u16> {
        let parsed = Url::parse(url).unwrap();
        let address = (Ipv4Addr::LOCALHOST, parsed.port().expect("a port"));
        let stream = TcpStream::connect(address).await.expect("the host is listening");
        match client_async(url, stream).await {
            Ok((socket, _)) => Ok(Self(socket)),
            Err(Error::Http(response)) => Err(response.status().as_u16()),
            Err(error) => panic!("{error}"),
        }
    }

    pub async fn send(&mut self, frame: &Value) {
        self.send_text(&frame.to_string()).await;
    }

    pub async fn send_text(&mut self, text: &str) {
        self.0.send(Message::text(text)).await.unwrap();
    }

    pub async fn next(&mut self) -> Value {
        self.next_within(WAIT_TIMEOUT).await.unwrap_or_else(|state| panic!("no frame: {state}"))
    }

    /// Returns the next frame, or why there is none.
    async fn next_within(&mut self, within: Duration) -> Result<Value, String> {
        let deadline = Instant::now() + within;
        loop {
            match timeout_at(deadline, self.0.next()).await {
                Err(_) => return Err(format!("not within {within:?}")),
                Ok(Some(Ok(Message::Text(text)))) => return Ok(serde_json::from_str(&text).unwrap()),
                Ok(Some(Ok(Message::Close(frame)))) => return Err(format!("closed: {frame:?}")),
                Ok(Some(Ok(_))) => {}
                Ok(Some(Err(error))) => return Err(format!("closed: {error}")),
                Ok(None) => return Err("closed".to_owned()),
            }
        }
    }

    pub async fn next_of(&mut self, kind: &str) -> Value {
        self.find(kind, |frame| frame["type"] == kind).await
    }

    /// Skips frames until one matches, and returns it.
    pub async fn find(&mut self, what: &str, matches: impl Fn(&Value) -> bool) -> Value {
        let mut skipped = Vec::new();
        loop {
            match self.next_within(WAIT_TIMEOUT).await {
                Ok(frame) if matches(&frame) => return frame,
                Ok(frame) => skipped.push(frame),
                Err(state) => panic!("no {what}: {state}; skipped {skipped:#?}"),
            }
        }
    }

    /// Sends a ping and returns the frames that arrive before the pong. They include all pushes that the service
    /// sent before it received the ping.
    pub async fn frames_until_pong(&mut self) -> Vec<Value> {
        self.send(&json!({"type": "ping"})).await;
        let mut frames = Vec::new();
        loop {
            let frame = self.next().await;
            if frame["type"] == "pong" {
                return frames;
            }
            frames.push(frame);
        }
    }

    pub async fn wait_until_closed(&mut self, within: Duration) {
        let deadline = Instant::now() + within;
        loop {
            let remaining = deadline.saturating_duration_since(Instant::now());
            match self.next_within(remaining).await {
                Ok(_) => {}
                Err(state) if state.starts_with("closed") => return,
                Err(_) => panic!("the socket is still open after {within:?}"),
            }
        }
    }

    pub async fn close(mut self) {
        self.0.close(None).await.unwrap();
        while let Some(Ok(_)) = self.0.next().await {}
    }

    /// Returns the connection, so that a test can stop reading from it.
    pub fn into_stream(self) -> WebSocketStream<TcpStream> {
        self.0
    }
}
