//! An HTTP server on the loopback address that receives deliveries in place of integrators, webhooks, bot providers and
//! telephony gateways.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use axum::extract::State;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

const REJECTING_PATH: &str = "/rejects";

/// The server stops when this value is dropped.
pub struct ReceiverServer {
    base_url: String,
    failures_left: Arc<AtomicU32>,
    server: JoinHandle<()>,
}

impl Drop for ReceiverServer {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl ReceiverServer {
    pub async fn start() -> std::io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let base_url = format!("http://{}", listener.local_addr()?);
        let failures_left = Arc::default();
        let router = Router::new().fallback(respond).with_state(Arc::clone(&failures_left));
        let server = tokio::spawn(async move { drop(axum::serve(listener, router).await) });
        Ok(Self { base_url, failures_left, server })
    }

    pub fn url(&self) -> String {
        format!("{}/receives", self.base_url)
    }

    /// Returns a URL at which the server rejects deliveries permanently, so that they are not retried.
    pub fn rejecting_url(&self) -> String {
        format!("{}{REJECTING_PATH}", self.base_url)
    }

    /// Makes the next request fail with status 500.
    pub fn fail_once(&self) {
        self.failures_left.store(1, Ordering::SeqCst);
    }
}

async fn respond(State(failures_left): State<Arc<AtomicU32>>, address: Uri) -> Response {
    let must_fail = failures_left.try_update(Ordering::SeqCst, Ordering::SeqCst, |count| count.checked_sub(1)).is_ok();
    if must_fail {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    }
    if address.path().starts_with(REJECTING_PATH) {
        return Json(json!({"error": {"code": 7, "message": "no"}})).into_response();
    }
    Json(json!({"result": "ok"})).into_response()
}
