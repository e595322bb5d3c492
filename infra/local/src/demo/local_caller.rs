//! An extractor for handlers that only programs on this machine may call, because the handlers require no credentials.

use std::net::SocketAddr;

use axum::Json;
use axum::extract::{ConnectInfo, FromRequestParts};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use serde_json::json;

use crate::http::loopback_host::loopback_host;

/// A caller on this machine whose Host header names this machine.
pub struct LocalCaller {
    /// The value of the request's Host header, such as `localhost:3000`.
    pub host: String,
}

/// The response to all other callers: 403.
pub struct NotLocal;

impl<S: Sync> FromRequestParts<S> for LocalCaller {
    type Rejection = NotLocal;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, NotLocal> {
        let is_loopback = |ConnectInfo(client): &ConnectInfo<SocketAddr>| client.ip().is_loopback();
        let is_local = parts.extensions.get().is_some_and(is_loopback);
        let host = loopback_host(&parts.headers).filter(|_| is_local).ok_or(NotLocal)?;
        Ok(Self { host: host.to_owned() })
    }
}

impl IntoResponse for NotLocal {
    fn into_response(self) -> Response {
        let message = "this works only on the machine that runs the host";
        let error = json!({"error": {"code": "forbidden", "message": message}});
        (StatusCode::FORBIDDEN, Json(error)).into_response()
    }
}
