//! The receivers of messages: an integrator's server on the loopback address, and an agent's socket.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use cost::Socket;
use futures_util::StreamExt;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::error::Error;
use crate::load::Arrivals;

/// Dropping this value stops the server.
pub(crate) struct Integrator {
    base_url: String,
    pub accepted: Arrivals,
    pub refused: Arrivals,
    server: JoinHandle<()>,
}

impl Drop for Integrator {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Integrator {
    pub async fn start() -> Result<Self, Error> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let base_url = format!("http://{}", listener.local_addr()?);
        let (accepted, refused) = (Arrivals::default(), Arrivals::default());
        let refusing = Router::new().fallback(refuse).with_state(refused.clone());
        let router = Router::new().fallback(accept).with_state(accepted.clone()).nest("/refuse", refusing);
        let server = tokio::spawn(async move { drop(axum::serve(listener, router).await) });
        Ok(Self { base_url, accepted, refused, server })
    }

    pub fn url(&self) -> String {
        format!("{}/accept", self.base_url)
    }

    /// Returns the URL at which every attempt gets status 500.
    pub fn refusing_url(&self) -> String {
        format!("{}/refuse", self.base_url)
    }
}

async fn accept(State(accepted): State<Arrivals>, Json(body): Json<Value>) -> Json<Value> {
    accepted.add(text(&body));
    Json(json!({"result": "ok"}))
}

async fn refuse(State(refused): State<Arrivals>, Json(body): Json<Value>) -> Response {
    refused.add(text(&body));
    StatusCode::INTERNAL_SERVER_ERROR.into_response()
}

/// Records the messages that are pushed to a socket, until the returned task is aborted.
pub(crate) fn note_pushes(mut socket: Socket) -> (Arrivals, JoinHandle<()>) {
    let arrivals = Arrivals::default();
    let noted = arrivals.clone();
    let reader = tokio::spawn(async move {
        while let Some(Ok(frame)) = socket.next().await {
            let push: Value = frame.to_text().ok().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
            if push.get("type").is_some_and(|kind| kind == "message") {
                noted.add(text(&push));
            }
        }
    });
    (arrivals, reader)
}

fn text(body: &Value) -> &str {
    body.pointer("/message/text").and_then(Value::as_str).unwrap_or_default()
}
