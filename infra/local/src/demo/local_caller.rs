//! An extractor for handlers that only programs on this machine may call, because the handlers require no credentials.

use std::net::{IpAddr, SocketAddr};

use axum::Json;
use axum::extract::{ConnectInfo, FromRequestParts};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;

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
        // The Host header is checked to prevent DNS rebinding, in which the host name of a page on the Internet
        // resolves to this machine.
        let host = parts.headers.get(header::HOST).and_then(|host| host.to_str().ok());
        let host = host.filter(|host| is_local && is_loopback_host(host)).ok_or(NotLocal)?;
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

/// Returns whether the value of a Host header is a name of this machine, with or without a port.
fn is_loopback_host(host: &str) -> bool {
    let is_port = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let name = host.rsplit_once(':').filter(|(_, port)| is_port(port)).map_or(host, |(name, _)| name);
    let address = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    name.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_machine_are_loopback_hosts() {
        for (host, expected) in [
            ("127.0.0.1:3000", true),
            ("127.0.0.1", true),
            ("localhost:3000", true),
            ("LOCALHOST", true),
            ("[::1]:3000", true),
            ("[::1]", true),
            ("localhost.example:3000", false),
            ("127.0.0.1.example", false),
            ("192.168.1.7:3000", false),
            ("", false),
        ] {
            assert_eq!(is_loopback_host(host), expected, "{host}");
        }
    }
}
