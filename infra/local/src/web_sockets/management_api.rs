//! The `@connections` endpoint, at which functions send messages to open connections, describe them and close them. The
//! official SDK for the API Gateway Management API can call it.
//!
//! The URL is the same for all functions, as on AWS. The calling function is identified by its access key.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderName, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::json;
use tokio_tungstenite::tungstenite::protocol::frame::Utf8Bytes;

use super::connection::MAX_MESSAGE_BYTES;
use super::open_connections::{OpenConnection, SendError};
use super::{HandlerState, SocketApi};
use crate::aws::access_keys::access_key_id;
use crate::aws::arn::connections_arn;
use crate::aws::iam::{AccessDenied, Permission};
use crate::aws::time_format::rfc3339_time;

/// The maximum size of a request body that is read. A larger body is rejected in the same way as a body over the limit
/// on messages.
const MAX_BODY_BYTES: usize = 16 * 1024 * 1024;

/// The reason why a request is rejected. The types and statuses are the same as on AWS.
#[derive(Debug, thiserror::Error)]
pub(super) enum Rejection {
    #[error("Missing Authentication Token")]
    MissingAuthenticationToken,
    #[error("The security token included in the request is invalid.")]
    UnrecognizedClient,
    #[error(transparent)]
    AccessDenied(#[from] AccessDenied),
    #[error("The message is not valid UTF-8.")]
    InvalidText,
    #[error("The message exceeds {MAX_MESSAGE_BYTES} bytes.")]
    PayloadTooLarge,
    #[error("The connection is closed.")]
    Gone,
    #[error("The client does not read its messages: the queue of the connection is full.")]
    LimitExceeded,
    #[error("Method Not Allowed")]
    MethodNotAllowed,
}

pub(super) async fn handle(
    State(HandlerState { api, .. }): State<HandlerState>,
    Path(connection_id): Path<String>,
    request: Request,
) -> Result<Response, Rejection> {
    let (head, body) = request.into_parts();
    let function = authorize(&api, &head.method, &head.headers)?;
    match head.method {
        Method::POST => post(&api, function, &connection_id, body).await,
        Method::GET => Ok(description(&*find(&api, &connection_id)?)),
        Method::DELETE => delete(&api, &connection_id),
        _ => Err(Rejection::MethodNotAllowed),
    }
}

/// Returns the name of the calling function if its role allows the request.
fn authorize<'a>(api: &'a SocketApi, method: &Method, headers: &HeaderMap) -> Result<&'a str, Rejection> {
    let access_key_id = access_key_id(headers).ok_or(Rejection::MissingAuthenticationToken)?;
    let function = api.access_keys.function(access_key_id).ok_or(Rejection::UnrecognizedClient)?;
    let resource = connections_arn(&api.definition.id, &api.definition.stage, method.as_str());
    api.roles.authorize(function, &[Permission { action: "execute-api:ManageConnections".to_owned(), resource }])?;
    Ok(function)
}

async fn post(api: &SocketApi, function: &str, connection_id: &str, body: Body) -> Result<Response, Rejection> {
    let body = axum::body::to_bytes(body, MAX_BODY_BYTES).await.map_err(|_| Rejection::PayloadTooLarge)?;
    if body.len() > MAX_MESSAGE_BYTES {
        return Err(Rejection::PayloadTooLarge);
    }
    let bytes = body.len();
    let text = Utf8Bytes::try_from(body).map_err(|_| Rejection::InvalidText)?;
    find(api, connection_id)?.send(text).map_err(|error| match error {
        SendError::Closed => Rejection::Gone,
        SendError::QueueFull => Rejection::LimitExceeded,
    })?;
    api.meter.count_socket_message(function, bytes);
    Ok(StatusCode::OK.into_response())
}

fn delete(api: &SocketApi, connection_id: &str) -> Result<Response, Rejection> {
    let was_open = api.connections.remove(connection_id);
    was_open.then(|| StatusCode::NO_CONTENT.into_response()).ok_or(Rejection::Gone)
}

fn find(api: &SocketApi, connection_id: &str) -> Result<Arc<OpenConnection>, Rejection> {
    api.connections.get(connection_id).ok_or(Rejection::Gone)
}

fn description(connection: &OpenConnection) -> Response {
    let info = &connection.info;
    let last_active_at = info.connected_at + info.activity.last_active_after();
    let description = json!({
        "connectedAt": rfc3339_time(info.connected_at),
        "identity": {"sourceIp": info.source_ip, "userAgent": info.user_agent.as_deref().unwrap_or_default()},
        "lastActiveAt": rfc3339_time(last_active_at),
    });
    Json(description).into_response()
}

impl IntoResponse for Rejection {
    fn into_response(self) -> Response {
        let (status, error_type) = match self {
            Self::MissingAuthenticationToken => (StatusCode::FORBIDDEN, "MissingAuthenticationTokenException"),
            Self::UnrecognizedClient => (StatusCode::FORBIDDEN, "UnrecognizedClientException"),
            Self::AccessDenied(_) => (StatusCode::FORBIDDEN, "AccessDeniedException"),
            Self::InvalidText => (StatusCode::BAD_REQUEST, "BadRequestException"),
            Self::PayloadTooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "PayloadTooLargeException"),
            Self::Gone => (StatusCode::GONE, "GoneException"),
            Self::LimitExceeded => (StatusCode::TOO_MANY_REQUESTS, "LimitExceededException"),
            Self::MethodNotAllowed => (StatusCode::METHOD_NOT_ALLOWED, "UnsupportedOperationException"),
        };
        let headers = [(HeaderName::from_static("x-amzn-errortype"), error_type)];
        (status, headers, Json(json!({"message": self.to_string()}))).into_response()
    }
}
