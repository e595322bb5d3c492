//! Reads a request within the gateway's limits.

use axum::body::{Body, Bytes};
use axum::http::request::Parts;
use axum::http::{Version, header};
use futures_util::StreamExt;

use super::refusal::Refusal;

/// Request line and headers together.
const MAX_HEADER_BYTES: usize = 10 * 1024;

/// The body.
const MAX_BODY_BYTES: usize = 10 * 1024 * 1024;

/// How much of a body that is too large is still read: a caller that is cut off while it sends sees a broken
/// connection instead of the answer.
const MAX_DRAINED_BYTES: usize = 4 * MAX_BODY_BYTES;

pub(super) fn check_head(head: &Parts) -> Result<(), Refusal> {
    let headers = head.headers.iter().map(|(name, value)| name.as_str().len() + value.len());
    let line = head.uri.path_and_query().map_or(0, |path| path.as_str().len());
    if line + headers.sum::<usize>() > MAX_HEADER_BYTES {
        return Err(Refusal::HeadTooLarge);
    }
    check_path(head)?;
    check_host(head)
}

/// `OPTIONS *` and `CONNECT host:port` name nothing that a function could serve.
fn check_path(head: &Parts) -> Result<(), Refusal> {
    let is_path = head.uri.path().starts_with('/');
    is_path.then_some(()).ok_or(Refusal::BadRequest { field: "path", expected: "must begin with a slash" })
}

/// RFC 9112, 3.2: one Host header, except that HTTP/1.0 may do without.
fn check_host(head: &Parts) -> Result<(), Refusal> {
    let mut hosts = head.headers.get_all(header::HOST).iter();
    let is_valid = match (hosts.next(), hosts.next()) {
        (Some(host), None) => host.to_str().is_ok_and(is_host),
        (None, _) => head.version < Version::HTTP_11,
        (Some(_), Some(_)) => false,
    };
    is_valid.then_some(()).ok_or(Refusal::BadRequest { field: "Host", expected: "must be one host, given once" })
}

/// The runtime of the functions builds a URL from it and panics if it is none.
fn is_host(host: &str) -> bool {
    !host.contains(['/', '?', '#', '@', '\\']) && reqwest::Url::parse(&format!("http://{host}/")).is_ok()
}

pub(super) async fn read(body: Body) -> Result<Bytes, Refusal> {
    let mut chunks = body.into_data_stream();
    let mut kept = Vec::new();
    let mut total = 0;
    while let Some(chunk) = chunks.next().await {
        // The caller is gone; nobody will see this answer.
        let chunk = chunk.map_err(|_| Refusal::BadRequest { field: "body", expected: "ended too early" })?;
        total += chunk.len();
        if total <= MAX_BODY_BYTES {
            kept.extend_from_slice(&chunk);
        } else if total > MAX_DRAINED_BYTES {
            break;
        }
    }
    if total > MAX_BODY_BYTES { Err(Refusal::TooLarge) } else { Ok(kept.into()) }
}
