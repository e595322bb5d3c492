//! Signs requests according to Standard Webhooks and sends them.

use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use reqwest::{Body, Client, Url, header};
use serde_json::Value;
use standardwebhooks::Webhook;
use uuid::Uuid;

use crate::Error;
use crate::partner::Partner;
use crate::pieces::{Pieces, SLOW_UPLOAD};

/// The service waits three seconds. The kit waits longer, so that it can say how slow a server is.
const PATIENCE: Duration = Duration::from_secs(10);
/// The service does not read more of a response.
pub(crate) const MAX_RESPONSE_BYTES: usize = 64 * 1024;
/// Signs what the server must refuse.
const OTHER_SECRET: &str = "whsec_YSBzZWNyZXQgdGhhdCB0aGUgc2VydmVyIGhhcyBub3Q=";
const USER_AGENT: &str = concat!("Switchboard/", env!("CARGO_PKG_VERSION"));
const CONTENT_TYPE: &str = "application/json; charset=utf-8";

pub(crate) struct Sender {
    client: Client,
    url: Url,
    secret: Webhook,
    other_secret: Webhook,
    /// The first request whose response was too long.
    pub too_long: OnceLock<Request>,
}

/// A request, and how it differs from those of the service.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub id: String,
    pub body: Vec<u8>,
    pub signature: Signature,
    /// How long ago the request was signed.
    pub age: Duration,
    pub transfer: Transfer,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transfer {
    Whole,
    Chunked,
    /// In pieces, which take `SLOW_UPLOAD` in all.
    Slow,
    /// The connection is closed after the first piece.
    BreaksOff,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signature {
    Right,
    /// The first signature was made with an old secret, the second one with that of the server.
    OldThenRight,
    RightThenOld,
    /// Before the right one stands a signature of a scheme that the server does not know.
    UnknownThenRight,
    Wrong,
    OfAnotherBody,
    None,
}

#[derive(Debug)]
pub(crate) struct Response {
    pub status: u16,
    /// At most `MAX_RESPONSE_BYTES`.
    pub body: Vec<u8>,
    pub is_cut: bool,
    /// Without the time of a slow upload.
    pub took: Duration,
}

impl Request {
    /// Returns a request with a new id, in the header and in the body.
    pub fn new(partner: Partner, body: &Value) -> Self {
        Self::new_spelled(partner, body, Value::to_string)
    }

    pub fn new_spelled(partner: Partner, body: &Value, spell: impl FnOnce(&Value) -> String) -> Self {
        let (id, mut body) = (Uuid::now_v7().to_string(), body.clone());
        if let Some(id_in_body) = partner.id_pointer().and_then(|pointer| body.pointer_mut(pointer)) {
            *id_in_body = Value::String(id.clone());
        }
        let body = spell(&body).into_bytes();
        Self { id, body, signature: Signature::Right, age: Duration::ZERO, transfer: Transfer::Whole }
    }
}

impl Response {
    pub fn json(&self) -> Option<Value> {
        let json: Value = serde_json::from_slice(&self.body).ok()?;
        // The service also takes a JSON string that contains the JSON.
        json.as_str().map_or_else(|| Some(json.clone()), |text| serde_json::from_str(text).ok())
    }
}

impl Sender {
    pub fn new(url: &str, secret: &str) -> Result<Self, Error> {
        let parsed = Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        // The service sends with these options and headers, too.
        let client = Client::builder().timeout(PATIENCE).redirect(reqwest::redirect::Policy::none());
        let client = client.no_proxy().http1_only().user_agent(USER_AGENT);
        let key = match secret {
            "" => return Err(Error::NoSecret),
            secret => secret.strip_prefix("whsec_").filter(|key| !key.is_empty()),
        };
        Ok(Self {
            client: client.build().map_err(Error::Client)?,
            url: parsed.ok_or(Error::Url)?,
            secret: key.and_then(|key| Webhook::new(key).ok()).ok_or(Error::Secret)?,
            other_secret: Webhook::new(OTHER_SECRET).map_err(|_| Error::Secret)?,
            too_long: OnceLock::new(),
        })
    }

    /// Returns the response, or why there is none.
    pub async fn send(&self, request: &Request) -> Result<Response, String> {
        let started = Instant::now();
        let mut sent = self.client.post(self.url.clone()).header(header::CONTENT_TYPE, CONTENT_TYPE);
        for (name, value) in self.signature_headers(request) {
            sent = sent.header(name, value);
        }
        if request.transfer == Transfer::Chunked {
            sent = sent.header(header::TRANSFER_ENCODING, "chunked");
        }
        let body = match request.transfer {
            Transfer::Whole | Transfer::Chunked => Body::from(request.body.clone()),
            Transfer::Slow => Body::wrap(Pieces::slow(&request.body)),
            Transfer::BreaksOff => Body::wrap(Pieces::broken_off(&request.body)),
        };
        let response = sent.body(body).send().await.map_err(|error| reason(&error))?;
        let status = response.status().as_u16();
        let (body, is_cut) = read_beginning(response).await.map_err(|error| reason(&error))?;
        if is_cut {
            self.too_long.get_or_init(|| request.clone());
        }
        let upload = if request.transfer == Transfer::Slow { SLOW_UPLOAD } else { Duration::ZERO };
        Ok(Response { status, body, is_cut, took: started.elapsed().saturating_sub(upload) })
    }

    fn signature_headers(&self, request: &Request) -> Vec<(&'static str, String)> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let at = i64::try_from(now.saturating_sub(request.age).as_secs()).unwrap_or(i64::MAX);
        let right = sign(&self.secret, &request.id, at, &request.body);
        let wrong = sign(&self.other_secret, &request.id, at, &request.body);
        let signature = match request.signature {
            Signature::Right => right,
            Signature::OldThenRight => format!("{wrong} {right}"),
            Signature::RightThenOld => format!("{right} {wrong}"),
            Signature::UnknownThenRight => format!("v1a,{} {right}", "bmV3".repeat(11)),
            Signature::Wrong => wrong,
            Signature::OfAnotherBody => sign(&self.secret, &request.id, at, b"{}"),
            Signature::None => return Vec::new(),
        };
        vec![
            ("webhook-id", request.id.clone()),
            ("webhook-timestamp", at.to_string()),
            ("webhook-signature", signature),
        ]
    }
}

/// Reads what the service reads of a body. Returns whether there is more.
async fn read_beginning(mut response: reqwest::Response) -> Result<(Vec<u8>, bool), reqwest::Error> {
    let mut body = Vec::new();
    while body.len() <= MAX_RESPONSE_BYTES {
        let Some(chunk) = response.chunk().await? else { break };
        body.extend_from_slice(&chunk);
    }
    let is_cut = body.len() > MAX_RESPONSE_BYTES;
    body.truncate(MAX_RESPONSE_BYTES);
    Ok((body, is_cut))
}

fn sign(secret: &Webhook, id: &str, at: i64, body: &[u8]) -> String {
    secret.sign(id, at, body).unwrap_or_default()
}

/// Returns why a request failed, without the address, which may contain a secret.
fn reason(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        "no response within ten seconds".to_owned()
    } else if error.is_connect() {
        format!("no connection: {}", first_cause(error))
    } else {
        "the connection ended before the response".to_owned()
    }
}

/// Returns what the system or the TLS library said.
fn first_cause(error: &dyn std::error::Error) -> String {
    error.source().map_or_else(|| error.to_string(), first_cause)
}
