//! Refuses requests whose Host header does not name this machine. This prevents DNS rebinding, in which the host name
//! of a page on the Internet resolves to this machine, so that the page can read the responses.

use std::net::IpAddr;

use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

/// Returns the value of the Host header if it names this machine, with or without a port.
pub(crate) fn loopback_host(headers: &HeaderMap) -> Option<&str> {
    let host = headers.get(header::HOST)?.to_str().ok()?;
    is_loopback_host(host).then_some(host)
}

/// Answers 403 to a request whose Host header does not name this machine.
pub(crate) async fn require(request: Request, next: Next) -> Response {
    if loopback_host(request.headers()).is_none() {
        return (StatusCode::FORBIDDEN, "the Host header does not name this machine").into_response();
    }
    next.run(request).await
}

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
