//! The WebSocket handshake. As on AWS, the `$connect` function runs before the handshake completes and decides whether
//! it succeeds.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE;
use hyper::upgrade::OnUpgrade;
use serde_json::json;
use tokio::sync::oneshot;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

use super::close_reason::CloseReason;
use super::open_connections::{Activity, ConnectionInfo};
use super::{HandlerState, SocketApi, connection};

/// Handles a request to the path of the API's stage. The request must be a WebSocket handshake.
pub(super) async fn handle(
    State(state): State<HandlerState>,
    ConnectInfo(client): ConnectInfo<SocketAddr>,
    mut request: Request,
) -> Response {
    let accept_key = match websocket_key(&request) {
        Ok(key) => derive_accept_key(key),
        Err(status) => return error_response(status),
    };
    let on_upgrade = hyper::upgrade::on(&mut request);
    let (head, _) = request.into_parts();
    let (respond, response) = oneshot::channel();
    // `open` runs in a separate task, so that the `$disconnect` function is invoked even if the client disappears.
    tokio::spawn(open(state, client, head, on_upgrade, accept_key, respond));
    response.await.unwrap_or_else(|_| error_response(StatusCode::INTERNAL_SERVER_ERROR))
}

/// Returns the `Sec-WebSocket-Key` of a valid handshake (RFC 6455, section 4.2.1), or else the status of the response.
fn websocket_key(request: &Request) -> Result<&[u8], StatusCode> {
    let headers = request.headers();
    if !has_token(headers, &header::CONNECTION, "upgrade") || !has_token(headers, &header::UPGRADE, "websocket") {
        return Err(StatusCode::UPGRADE_REQUIRED);
    }
    let has_version_13 = headers.get(header::SEC_WEBSOCKET_VERSION).is_some_and(|version| version == "13");
    match headers.get(header::SEC_WEBSOCKET_KEY) {
        Some(key) if has_version_13 && request.method() == Method::GET => Ok(key.as_bytes()),
        _ => Err(StatusCode::BAD_REQUEST),
    }
}

fn has_token(headers: &HeaderMap, name: &HeaderName, token: &str) -> bool {
    let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|value| value.trim().eq_ignore_ascii_case(token))
}

/// Opens a connection, responds to the handshake and serves the connection until it is closed.
async fn open(
    HandlerState { api, mut stop }: HandlerState,
    client: SocketAddr,
    handshake: Parts,
    on_upgrade: OnUpgrade,
    accept_key: String,
    respond: oneshot::Sender<Response>,
) {
    // If sending a response fails, the client has closed the TCP connection.
    let Ok(info) = new_connection(&api, client, &handshake.headers) else {
        let _ = respond.send(error_response(StatusCode::INTERNAL_SERVER_ERROR));
        return;
    };
    if let Err(status) = api.connect(&info, &handshake).await {
        let _ = respond.send(error_response(status));
        return;
    }
    let info = Arc::new(info);
    // The connection is added before the client learns that it is open, so that a function can respond to the client's
    // first message.
    let outbox = api.connections.add(Arc::clone(&info));
    let _ = respond.send(switching_protocols(&accept_key));
    match on_upgrade.await {
        Ok(upgraded) => connection::serve(&api, &info, outbox, upgraded, &mut stop).await,
        Err(_) => {
            api.connections.remove(&info.id);
            api.disconnect(&info, &CloseReason::ConnectionLost).await;
        }
    }
}

fn new_connection(
    api: &SocketApi,
    client: SocketAddr,
    headers: &HeaderMap,
) -> Result<ConnectionInfo, getrandom::Error> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    Ok(ConnectionInfo {
        id: new_connection_id()?,
        api_id: api.definition.id.clone(),
        stage: api.definition.stage.clone(),
        domain_name: text(header::HOST).unwrap_or_default(),
        source_ip: client.ip().to_string(),
        user_agent: text(header::USER_AGENT),
        connected_at: api.clock.now_utc(),
        activity: Activity::start(api.clock.clone()),
    })
}

/// Returns a random id in the format of API Gateway: 16 characters, of which the last is `=`.
fn new_connection_id() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 11];
    getrandom::fill(&mut bytes)?;
    Ok(URL_SAFE.encode(bytes))
}

fn switching_protocols(accept_key: &str) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
    headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    if let Ok(accept_key) = HeaderValue::from_str(accept_key) {
        headers.insert(header::SEC_WEBSOCKET_ACCEPT, accept_key);
    }
    response
}

fn error_response(status: StatusCode) -> Response {
    let message = status.canonical_reason().unwrap_or("Error");
    (status, Json(json!({"message": message}))).into_response()
}
