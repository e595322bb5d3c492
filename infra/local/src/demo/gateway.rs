//! The demo gateway emulates a telephony provider (docs/telephony.md): it answers the calls that the service orders,
//! talks for a few seconds and hangs up. It can also call the account. No real phone rings.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode};
use axum::response::IntoResponse;
use axum::routing::{get, post};
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::{Value, json};
use standardwebhooks::Webhook;
use uuid::Uuid;

use super::journal::{Journal, Receiver};
use super::local_caller::LocalCaller;
use crate::api_client::{self, ApiClient};
use crate::terminal;

const PATH: &str = "/_local/gateway";
const RECORDING_PATH: &str = "/_local/gateway/recording.mp3";
const INCOMING_PATH: &str = "/_local/gateway/incoming";
const ANSWER_DELAY: Duration = Duration::from_secs(2);
const TALK_TIME: Duration = Duration::from_secs(8);
/// The header of a silent MP3 frame: MPEG-1 layer III, 128 kbit/s, 44.1 kHz, mono. The whole frame has 417 bytes and
/// lasts 26 ms.
const SILENT_FRAME_HEADER: [u8; 4] = [0xff, 0xfb, 0x90, 0xc4];
const FRAME_BYTES: usize = 417;
const FRAMES: usize = 306;

#[must_use]
pub fn url(base_url: &str) -> String {
    format!("{base_url}{PATH}")
}

/// Replaces the base URL of a [`url`] from an earlier run. Returns `None` for any other URL, and for a URL that already
/// has this run's base URL.
#[must_use]
pub fn with_base_url(url: &str, base_url: &str) -> Option<String> {
    api_client::with_base_url(url, PATH, base_url)
}

/// The host needs the gateway's routes before the demo account exists, so the gateway is connected to the account
/// later. Until then, the gateway responds with 503. Clones share the connection.
#[derive(Debug, Clone)]
pub struct DemoGateway {
    connection: Arc<OnceLock<Connection>>,
    journal: Journal,
}

#[derive(Debug)]
struct Connection {
    api: ApiClient,
    account_id: String,
    signing_secret: String,
}

/// The body of the request that makes the gateway simulate a visitor's call to the account.
#[derive(Deserialize)]
struct IncomingCall {
    phone: Option<String>,
}

impl DemoGateway {
    #[must_use]
    pub fn new(journal: Journal) -> Self {
        Self { connection: Arc::default(), journal }
    }

    /// Only the first call has an effect.
    pub fn connect(&self, api: ApiClient, account_id: &str, signing_secret: &str) {
        let (account_id, signing_secret) = (account_id.to_owned(), signing_secret.to_owned());
        let _ = self.connection.set(Connection { api, account_id, signing_secret });
    }

    pub fn router(self) -> Router {
        Router::new()
            .route(PATH, post(order_call))
            .route(INCOMING_PATH, post(call_account))
            .route(RECORDING_PATH, get(recording))
            .with_state(self)
    }
}

async fn order_call(State(gateway): State<DemoGateway>, headers: HeaderMap, body: String) -> impl IntoResponse {
    let Some(connection) = gateway.connection.get() else { return StatusCode::SERVICE_UNAVAILABLE.into_response() };
    if !connection.has_signed(&headers, &body) {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    let order: Value = serde_json::from_str(&body).unwrap_or_default();
    let response = json!({"result": "ok"});
    gateway.journal.record(Receiver::Gateway, &order, vec![response.clone()]);
    tokio::spawn(async move { gateway.make_call(&order, true).await });
    Json(response).into_response()
}

/// `POST /_local/gateway/incoming`: simulates a visitor's call to the account.
async fn call_account(
    _: LocalCaller,
    State(gateway): State<DemoGateway>,
    Json(incoming): Json<IncomingCall>,
) -> impl IntoResponse {
    let Some(connection) = gateway.connection.get() else { return StatusCode::SERVICE_UNAVAILABLE.into_response() };
    let path = format!("/calls/{}", connection.account_id);
    let report = json!({"provider_call_id": Uuid::now_v7(), "phone": incoming.phone});
    let Ok(routing) = connection.api.post_signed(&path, &connection.signing_secret, &report).await else {
        return StatusCode::BAD_GATEWAY.into_response();
    };
    let response = routing.clone();
    tokio::spawn(async move { gateway.make_call(&routing, false).await });
    Json(response).into_response()
}

/// Returns a silent MP3 recording, which lasts about eight seconds.
async fn recording() -> impl IntoResponse {
    let frame =
        SILENT_FRAME_HEADER.iter().copied().chain(std::iter::repeat_n(0, FRAME_BYTES - SILENT_FRAME_HEADER.len()));
    let frame: Vec<u8> = frame.collect();
    ([(CONTENT_TYPE, "audio/mpeg")], frame.repeat(FRAMES))
}

impl DemoGateway {
    /// Reports the steps of a call to the service, each after its pause. Does nothing if the service has rejected the
    /// call. `has_client_leg` is false for an incoming call, in which the visitor is connected from the beginning.
    async fn make_call(&self, call: &Value, has_client_leg: bool) {
        let Some(connection) = self.connection.get() else { return };
        let text = |name: &str| call.get(name).and_then(Value::as_str).unwrap_or_default();
        let (call_id, report_url) = (text("call_id"), text("report_url"));
        if report_url.is_empty() {
            return;
        }
        let phone = call.pointer("/client/phone").and_then(Value::as_str).unwrap_or_default();
        for (pause, step) in steps(phone, has_client_leg, connection.api.base_url()) {
            tokio::time::sleep(pause).await;
            let mut report = step;
            if let Some(fields) = report.as_object_mut() {
                fields.insert("call_id".to_owned(), json!(call_id));
            }
            if let Err(error) = connection.api.post_signed(report_url, &connection.signing_secret, &report).await {
                return terminal::print_error(&format!("the demo gateway cannot report a call: {error}"));
            }
        }
    }
}

/// Returns the reports about a call, each with the pause before it. A phone number that ends with 00 is busy, and one
/// that ends with 99 does not answer.
fn steps(phone: &str, has_client_leg: bool, base_url: &str) -> Vec<(Duration, Value)> {
    let mut steps =
        vec![(Duration::ZERO, json!({"status": "ringing"})), (ANSWER_DELAY, json!({"status": "agent_connected"}))];
    if phone.ends_with("00") {
        steps.push((ANSWER_DELAY, json!({"status": "error", "reason": "busy"})));
        return steps;
    }
    if phone.ends_with("99") {
        steps.push((ANSWER_DELAY, json!({"status": "end", "duration": 0})));
        return steps;
    }
    if has_client_leg {
        steps.push((ANSWER_DELAY, json!({"status": "client_connected"})));
    }
    let record_url = format!("{base_url}{RECORDING_PATH}");
    steps.push((TALK_TIME, json!({"status": "end", "duration": TALK_TIME.as_secs(), "record_url": record_url})));
    steps
}

impl Connection {
    fn has_signed(&self, headers: &HeaderMap, body: &str) -> bool {
        Webhook::new(&self.signing_secret).is_ok_and(|webhook| webhook.verify(body.as_bytes(), headers).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_digits_of_the_number_decide_the_outcome() {
        let statuses = |phone: &str, has_client_leg: bool| {
            let steps = steps(phone, has_client_leg, "http://localhost");
            steps.iter().map(|(_, step)| step["status"].as_str().unwrap_or_default().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(statuses("+442079460123", true), ["ringing", "agent_connected", "client_connected", "end"]);
        assert_eq!(statuses("", false), ["ringing", "agent_connected", "end"]);
        assert_eq!(statuses("+442079460100", true), ["ringing", "agent_connected", "error"]);
        assert_eq!(statuses("+442079460199", true), ["ringing", "agent_connected", "end"]);
    }
}
