//! Signs requests according to Standard Webhooks and sends them.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use reqwest::{Client, Url, header};
use serde_json::Value;
use standardwebhooks::Webhook;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use uuid::Uuid;

use crate::Error;
use crate::partner::Partner;

/// The service waits three seconds. The kit waits longer, so that it can say how slow a server is.
const PATIENCE: Duration = Duration::from_secs(10);
/// Signs what the server must refuse.
const OTHER_SECRET: &str = "whsec_YSBzZWNyZXQgdGhhdCB0aGUgc2VydmVyIGhhcyBub3Q=";
const USER_AGENT: &str = concat!("Switchboard/", env!("CARGO_PKG_VERSION"));
const CONTENT_TYPE: &str = "application/json; charset=utf-8";

pub(crate) struct Sender {
    client: Client,
    url: Url,
    secret: Webhook,
    other_secret: Webhook,
}

/// A request, and how it differs from those of the service.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub id: String,
    pub body: Vec<u8>,
    pub signature: Signature,
    /// How long ago the request was signed.
    pub age: Duration,
    pub is_chunked: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signature {
    Right,
    /// The first signature was made with an old secret, the second one with the current secret.
    OldThenRight,
    /// Before the right one stands a signature of a scheme that the server does not know.
    UnknownThenRight,
    Wrong,
    OfAnotherBody,
    None,
}

#[derive(Debug)]
pub(crate) struct Response {
    pub status: u16,
    pub body: Vec<u8>,
    pub took: Duration,
}

impl Request {
    /// Returns a request with a new id, in the header and in the body.
    pub fn new(partner: Partner, body: &Value) -> Self {
        let (id, mut body) = (Uuid::now_v7().to_string(), body.clone());
        if let Some(id_in_body) = partner.id_pointer().and_then(|pointer| body.pointer_mut(pointer)) {
            *id_in_body = Value::String(id.clone());
        }
        let body = body.to_string().into_bytes();
        Self { id, body, signature: Signature::Right, age: Duration::ZERO, is_chunked: false }
    }

    pub fn with_signature(self, signature: Signature) -> Self {
        Self { signature, ..self }
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
        let secret = if secret.is_empty() { Err(Error::NoSecret) } else { Ok(secret) }?;
        Ok(Self {
            client: client.build().map_err(Error::Client)?,
            url: parsed.ok_or(Error::Url)?,
            secret: secret.strip_prefix("whsec_").and_then(|_| Webhook::new(secret).ok()).ok_or(Error::Secret)?,
            other_secret: Webhook::new(OTHER_SECRET).map_err(|_| Error::Secret)?,
        })
    }

    /// Returns the response, or why there is none.
    pub async fn send(&self, request: &Request) -> Result<Response, String> {
        let started = Instant::now();
        let mut sent = self.client.post(self.url.clone()).header(header::CONTENT_TYPE, CONTENT_TYPE);
        for (name, value) in self.signature_headers(request) {
            sent = sent.header(name, value);
        }
        if request.is_chunked {
            sent = sent.header(header::TRANSFER_ENCODING, "chunked");
        }
        let response = sent.body(request.body.clone()).send().await.map_err(|error| reason(&error))?;
        let status = response.status().as_u16();
        let body = response.bytes().await.map_err(|error| reason(&error))?.to_vec();
        Ok(Response { status, body, took: started.elapsed() })
    }

    fn signature_headers(&self, request: &Request) -> Vec<(&'static str, String)> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let at = i64::try_from(now.saturating_sub(request.age).as_secs()).unwrap_or(i64::MAX);
        let right = sign(&self.secret, &request.id, at, &request.body);
        let wrong = sign(&self.other_secret, &request.id, at, &request.body);
        let signature = match request.signature {
            Signature::Right => right,
            Signature::OldThenRight => format!("{wrong} {right}"),
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

    /// Sends the beginning of a request and closes the connection. Returns `false` if this is not possible, because the
    /// address is not an http one.
    pub async fn abort_upload(&self) -> Result<bool, String> {
        let (Some(host), Some(port), "http") =
            (self.url.host_str(), self.url.port_or_known_default(), self.url.scheme())
        else {
            return Ok(false);
        };
        let connect = async {
            let mut stream = TcpStream::connect((host.trim_matches(['[', ']']), port)).await?;
            let query = self.url.query().map(|query| format!("?{query}")).unwrap_or_default();
            let head = format!(
                "POST {}{query} HTTP/1.1\r\nhost: {host}:{port}\r\ncontent-type: {CONTENT_TYPE}\r\ncontent-length: 1000\r\n\r\n{{\"me",
                self.url.path(),
            );
            stream.write_all(head.as_bytes()).await?;
            stream.shutdown().await
        };
        connect.await.map(|()| true).map_err(|error| error.to_string())
    }
}

fn sign(secret: &Webhook, id: &str, at: i64, body: &[u8]) -> String {
    secret.sign(id, at, body).unwrap_or_default()
}

/// Returns why a request failed, without the address, which may contain a secret.
fn reason(error: &reqwest::Error) -> String {
    let kind = if error.is_timeout() {
        "no response within ten seconds"
    } else if error.is_connect() {
        "no connection"
    } else {
        "the connection ended before the response"
    };
    kind.to_owned()
}
