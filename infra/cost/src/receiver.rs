//! The server of everybody who is called: integrator, webhook, bot provider. A real one, on loopback.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use axum::extract::State;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// Whoever is called here says no.
const REJECTS: &str = "/rejects";

/// Stops when it is dropped.
pub struct Receiver {
    base_url: String,
    failing: Arc<AtomicU32>,
    server: JoinHandle<()>,
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Receiver {
    pub async fn start() -> std::io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let base_url = format!("http://{}", listener.local_addr()?);
        let failing = Arc::default();
        let router = Router::new().fallback(answer).with_state(Arc::clone(&failing));
        let server = tokio::spawn(async move { drop(axum::serve(listener, router).await) });
        Ok(Self { base_url, failing, server })
    }

    /// An address where everything is received.
    pub fn url(&self) -> String {
        format!("{}/receives", self.base_url)
    }

    /// An address where everything is rejected, for good.
    pub fn rejecting_url(&self) -> String {
        format!("{}{REJECTS}", self.base_url)
    }

    /// The next request fails.
    pub fn fail_once(&self) {
        self.failing.store(1, Ordering::SeqCst);
    }
}

async fn answer(State(failing): State<Arc<AtomicU32>>, address: Uri) -> Response {
    let failed = failing.try_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok();
    if failed {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    }
    if address.path().starts_with(REJECTS) {
        return Json(json!({"error": {"code": 7, "message": "no"}})).into_response();
    }
    Json(json!({"result": "ok"})).into_response()
}
