//! A WebSocket client for the local host. It panics if a message does not arrive within ten seconds.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use local::Host;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async};

pub struct WebSocketClient(pub WebSocketStream<TcpStream>);

impl WebSocketClient {
    pub async fn try_connect(host: &Host, query: &str) -> Result<Self, Error> {
        let address = host.base_url().trim_start_matches("http://");
        let stream = TcpStream::connect(address).await?;
        let mut request = format!("ws://{address}/socket?{query}").into_client_request()?;
        request.headers_mut().insert("user-agent", "tests".parse().unwrap());
        let (socket, _) = timeout(Duration::from_secs(10), client_async(request, stream)).await.unwrap()?;
        Ok(Self(socket))
    }

    pub async fn connect(host: &Host) -> Self {
        Self::try_connect(host, "").await.unwrap()
    }

    pub async fn send(&mut self, text: &str) {
        self.0.send(Message::text(text)).await.unwrap();
    }

    pub async fn next(&mut self) -> Message {
        timeout(Duration::from_secs(10), self.0.next()).await.unwrap().unwrap().unwrap()
    }

    pub async fn text(&mut self) -> String {
        self.next().await.into_text().unwrap().to_string()
    }

    pub async fn json(&mut self) -> Value {
        serde_json::from_str(&self.text().await).unwrap()
    }

    /// Returns the code of the close frame. Skips the messages before it.
    pub async fn close_code(&mut self) -> u16 {
        loop {
            if let Message::Close(frame) = self.next().await {
                return frame.unwrap().code.into();
            }
        }
    }
}
