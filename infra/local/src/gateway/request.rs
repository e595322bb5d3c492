//! Validates the head of a request and reads its body within the gateway's limits.

use axum::body::{Body, Bytes};
use axum::http::request::Parts;
use axum::http::{Version, header};
use futures_util::StreamExt;

use super::error_response::GatewayError;

/// The limit on the combined size of the request line and the headers.
const MAX_HEAD_BYTES: usize = 10 * 1024;

const MAX_BODY_BYTES: usize = 10 * 1024 * 1024;

/// The size up to which an oversized body is read before the error response is sent. If the connection were closed
/// while the client was still sending, the client would see a broken connection instead of the error response.
const MAX_DISCARDED_BODY_BYTES: usize = 4 * MAX_BODY_BYTES;

pub(super) fn validate_head(head: &Parts) -> Result<(), GatewayError> {
    let headers = head.headers.iter().map(|(name, value)| name.as_str().len() + value.len());
    let request_line = head.uri.path_and_query().map_or(0, |path| path.as_str().len());
    if request_line + headers.sum::<usize>() > MAX_HEAD_BYTES {
        return Err(GatewayError::HeadersTooLarge);
    }
    validate_path(head)?;
    validate_host(head)
}

/// Rejects `OPTIONS *` and `CONNECT host:port`, which have no path to route.
fn validate_path(head: &Parts) -> Result<(), GatewayError> {
    let is_path = head.uri.path().starts_with('/');
    is_path.then_some(()).ok_or(GatewayError::InvalidHead { field: "path", reason: "must begin with a slash" })
}

/// Checks the Host header. RFC 9112, section 3.2, requires exactly one, but an HTTP/1.0 request may omit it.
fn validate_host(head: &Parts) -> Result<(), GatewayError> {
    let mut hosts = head.headers.get_all(header::HOST).iter();
    let is_valid = match (hosts.next(), hosts.next()) {
        (Some(host), None) => host.to_str().is_ok_and(is_host),
        (None, _) => head.version < Version::HTTP_11,
        (Some(_), Some(_)) => false,
    };
    let error = GatewayError::InvalidHead { field: "Host", reason: "must be one valid host, given exactly once" };
    is_valid.then_some(()).ok_or(error)
}

/// Returns whether the value is a valid host. The functions' Lambda runtime builds a URL from the value and panics if
/// the URL is invalid.
fn is_host(host: &str) -> bool {
    !host.contains(['/', '?', '#', '@', '\\']) && reqwest::Url::parse(&format!("http://{host}/")).is_ok()
}

pub(super) async fn read_body(body: Body) -> Result<Bytes, GatewayError> {
    let mut chunks = body.into_data_stream();
    let mut buffer = Vec::new();
    let mut total_bytes = 0;
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|_| GatewayError::IncompleteBody)?;
        total_bytes += chunk.len();
        if total_bytes <= MAX_BODY_BYTES {
            buffer.extend_from_slice(&chunk);
        } else if total_bytes > MAX_DISCARDED_BODY_BYTES {
            break;
        }
    }
    if total_bytes > MAX_BODY_BYTES { Err(GatewayError::PayloadTooLarge) } else { Ok(buffer.into()) }
}
