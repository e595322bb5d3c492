//! Reads a request within the gateway's limits.

use axum::body::{Body, Bytes};
use axum::http::header;
use axum::http::request::Parts;
use futures_util::StreamExt;

use super::refusal::Refusal;

/// Request line and headers together.
const HEAD_BYTES: usize = 10 * 1024;

/// The body.
const BODY_BYTES: usize = 10 * 1024 * 1024;

/// How much of a body that is too large is still read: a caller that is cut off while it sends sees a broken
/// connection instead of the answer.
const DRAINED_BYTES: usize = 4 * BODY_BYTES;

pub(super) fn check_head(head: &Parts) -> Result<(), Refusal> {
    let headers = head.headers.iter().map(|(name, value)| name.as_str().len() + value.len());
    let line = head.uri.path_and_query().map_or(0, |path| path.as_str().len());
    if line + headers.sum::<usize>() > HEAD_BYTES {
        return Err(Refusal::HeadTooLarge);
    }
    match head.headers.get(header::HOST).map(|host| host.to_str()) {
        Some(Ok(host)) if is_host(host) => Ok(()),
        Some(_) => Err(Refusal::BadRequest),
        None => Ok(()),
    }
}

/// The functions make a URL of it, so it has to be one.
fn is_host(host: &str) -> bool {
    !host.contains(['/', '?', '#', '@', '\\']) && reqwest::Url::parse(&format!("http://{host}/")).is_ok()
}

pub(super) async fn read(body: Body) -> Result<Bytes, Refusal> {
    let mut chunks = body.into_data_stream();
    let mut kept = Vec::new();
    let mut total = 0;
    while let Some(chunk) = chunks.next().await {
        // The caller is gone; nobody will see this answer.
        let chunk = chunk.map_err(|_| Refusal::BadRequest)?;
        total += chunk.len();
        if total <= BODY_BYTES {
            kept.extend_from_slice(&chunk);
        } else if total > DRAINED_BYTES {
            break;
        }
    }
    if total > BODY_BYTES { Err(Refusal::TooLarge) } else { Ok(kept.into()) }
}
