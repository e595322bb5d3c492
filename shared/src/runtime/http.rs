//! HTTP functions: a request comes in by the gateway, a handler answers it, errors become their body and
//! their log line here and nowhere else.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use futures_util::future::BoxFuture;
use lambda_http::http::{HeaderMap, HeaderValue, Method};
use lambda_http::request::RequestContext;
use lambda_http::{Body, RequestExt, service_fn};
use serde_json::{Value, json};
use tracing::Instrument;

use crate::domain::content::cut;
use crate::error::Error;
use crate::runtime::dependencies::{self, Dependency};
use crate::runtime::{metrics, secret};
use crate::store::chats::idempotency::IdempotencyKey;
use crate::wire;

/// The largest body that is read, in bytes, unless the endpoint says otherwise.
const MAX_BODY_BYTES: usize = 128 * 1024;
/// The media type of every body but a file's.
const JSON: &str = "application/json; charset=utf-8";
/// Characters of an `Idempotency-Key`.
const MAX_IDEMPOTENCY_KEY_CHARS: usize = 255;
/// Characters of a caller's own id of a message in the log.
const MAX_LOGGED_ID_CHARS: usize = 64;

/// A request.
pub struct Request {
    /// Its method.
    pub method: Method,
    parts: lambda_http::Request,
}

/// An answer.
#[derive(Debug)]
pub struct Response {
    status: u16,
    body: Payload,
    content_type: &'static str,
    /// Who may keep it, and for how long.
    cache: &'static str,
    headers: Vec<(&'static str, String)>,
    message_id: Option<String>,
    their_id: Option<String>,
}

#[derive(Debug)]
enum Payload {
    Json(Value),
    /// A part of the program itself.
    Bytes(&'static [u8]),
}

/// A file that is part of the program, and what it was compressed to beforehand.
pub struct File {
    /// Its media type.
    pub content_type: &'static str,
    /// Its bytes.
    pub identity: &'static [u8],
    /// The same, compressed by brotli.
    pub brotli: &'static [u8],
    /// The same, compressed by gzip.
    pub gzip: &'static [u8],
}

impl File {
    /// The content coding for a caller with this `Accept-Encoding`, and the bytes in it.
    fn encoded(&self, accepted: &str) -> (Option<&'static str>, &'static [u8]) {
        if accepts(accepted, "br") {
            (Some("br"), self.brotli)
        } else if accepts(accepted, "gzip") {
            (Some("gzip"), self.gzip)
        } else {
            (None, self.identity)
        }
    }
}

/// Whether an `Accept-Encoding` names the coding with a weight above zero.
fn accepts(accepted: &str, coding: &str) -> bool {
    accepted.split(',').any(|item| {
        let mut parts = item.split(';').map(str::trim);
        let is_named = parts.next().is_some_and(|name| name.eq_ignore_ascii_case(coding));
        let weight = parts.find_map(|part| part.strip_prefix("q=")?.parse::<f32>().ok());
        is_named && weight.is_none_or(|weight| weight > 0.0)
    })
}

impl Response {
    /// 200 with a body.
    pub fn ok(body: Value) -> Self {
        Self::new(200, body)
    }

    /// 201 with a body.
    pub fn created(body: Value) -> Self {
        Self::new(201, body)
    }

    /// 202 with a body.
    pub fn accepted(body: Value) -> Self {
        Self::new(202, body)
    }

    /// A JSON document that is the same for everybody: 200, or 304 when the caller has this copy.
    pub fn document(text: &'static str, request: &Request) -> Self {
        Self::bytes(text.as_bytes(), JSON, "public, max-age=300", request)
    }

    /// A file in the best coding that the caller accepts: 200, or 304 when the caller has this copy. `cache` is its
    /// `Cache-Control`.
    pub fn file(file: &File, cache: &'static str, request: &Request) -> Self {
        let (coding, bytes) = file.encoded(request.header("accept-encoding").unwrap_or_default());
        let coding = coding.map(|coding| ("content-encoding", coding.to_owned()));
        let headers = [("vary", "accept-encoding".to_owned())].into_iter().chain(coding);
        Self::bytes(bytes, file.content_type, cache, request).with_headers(headers)
    }

    /// Adds headers.
    pub fn with_headers(mut self, headers: impl IntoIterator<Item = (&'static str, String)>) -> Self {
        self.headers.extend(headers);
        self
    }

    fn bytes(bytes: &'static [u8], content_type: &'static str, cache: &'static str, request: &Request) -> Self {
        let tag = format!("\"{}\"", secret::hex_hash(bytes));
        let known = request.header("if-none-match").unwrap_or_default();
        let has_copy = known.split(',').any(|known| known.trim().trim_start_matches("W/") == tag);
        let (status, body): (u16, &[u8]) = if has_copy { (304, &[]) } else { (200, bytes) };
        let (body, headers) = (Payload::Bytes(body), vec![("etag", tag)]);
        Self { status, body, content_type, cache, headers, message_id: None, their_id: None }
    }

    fn new(status: u16, body: Value) -> Self {
        let (body, headers) = (Payload::Json(body), Vec::new());
        Self { status, body, content_type: JSON, cache: "no-store", headers, message_id: None, their_id: None }
    }

    /// Notes the message that the request made, for the log: its id is on everything that follows from it.
    pub fn about(self, message_id: &str) -> Self {
        Self { message_id: Some(message_id.to_owned()), ..self }
    }

    /// Notes what the caller calls that message, for the log too: the beginning of a long id.
    pub fn known_as(self, their_id: Option<String>) -> Self {
        Self { their_id: their_id.map(|id| cut(&id, MAX_LOGGED_ID_CHARS)), ..self }
    }

    fn error(error: &Error) -> Self {
        let mut fields = json!({ "code": error.code(), "message": error.to_string() });
        if let (Some(field), Some(fields)) = (error.wrong_field(), fields.as_object_mut()) {
            fields.insert("field".to_owned(), json!(field));
        }
        let wait = error.retry_after().map(|wait| ("retry-after", wait.as_secs_f64().ceil().max(1.0).to_string()));
        let allow = error.allowed_methods().map(|methods| ("allow", methods.to_owned()));
        let headers = wait.into_iter().chain(allow).collect();
        Self { headers, ..Self::new(error.status(), json!({ "error": fields })) }
    }

    fn into_lambda(self) -> Result<lambda_http::Response<Body>, lambda_http::http::Error> {
        let mut response = lambda_http::Response::builder()
            .status(self.status)
            .header("content-type", self.content_type)
            .header("cache-control", self.cache);
        for (name, value) in self.headers {
            response = response.header(name, value);
        }
        response.body(match self.body {
            Payload::Json(value) => Body::Text(value.to_string()),
            Payload::Bytes(bytes) => Body::from(bytes),
        })
    }
}

impl Request {
    fn new(parts: lambda_http::Request) -> Self {
        Self { method: parts.method().clone(), parts }
    }

    fn headers(&self) -> &HeaderMap {
        self.parts.headers()
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers().get(name)?.to_str().ok()
    }

    /// Refuses every method but one.
    pub fn only(&self, method: &'static str) -> Result<(), Error> {
        if self.method == method { Ok(()) } else { Err(Error::MethodNotAllowed(method)) }
    }

    /// The path, percent-decoded. It may hold secrets: not for a log.
    pub fn path(&self) -> &str {
        self.parts.raw_http_path()
    }

    /// A part of the path, as the route names it; empty when the route has no such part.
    pub fn segment(&self, name: &str) -> String {
        self.parts.path_parameters().first(name).unwrap_or_default().to_owned()
    }

    /// Whether the route has such a part.
    pub fn has_segment(&self, name: &str) -> bool {
        self.parts.path_parameters().first(name).is_some()
    }

    /// The last part of the route's template.
    pub fn route_end(&self) -> String {
        self.route().rsplit('/').next().unwrap_or_default().to_owned()
    }

    /// A part of the path that is a number; there is nothing under any other.
    pub fn number(&self, name: &str) -> Result<u64, Error> {
        self.segment(name).parse().map_err(|_| Error::NotFound)
    }

    /// A parameter of the query.
    pub fn query(&self, name: &str) -> Option<String> {
        self.parts.query_string_parameters().first(name).map(str::to_owned)
    }

    /// A parameter of the query that is a number.
    pub fn query_number(&self, name: &str) -> Result<Option<u64>, Error> {
        let parse = |text: String| text.parse().map_err(|_| Error::field(name, "must be a whole number"));
        self.query(name).map(parse).transpose()
    }

    /// The bearer token.
    pub fn bearer(&self) -> Option<&str> {
        let (scheme, token) = self.header("authorization")?.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
    }

    /// The `Authorization` header, whatever its scheme.
    pub fn authorization(&self) -> Option<&str> {
        self.header("authorization")
    }

    /// The `Idempotency-Key` header within a scope, with the body it came with. Its bytes count, whatever they are.
    pub fn idempotency_key(
        &self,
        scope: impl FnOnce() -> String,
        body: &Value,
    ) -> Result<Option<IdempotencyKey>, Error> {
        let Some(key) = self.headers().get("idempotency-key").map(HeaderValue::as_bytes).filter(|key| !key.is_empty())
        else {
            return Ok(None);
        };
        if String::from_utf8_lossy(key).chars().count() > MAX_IDEMPOTENCY_KEY_CHARS {
            let expected = format_args!("must have at most {MAX_IDEMPOTENCY_KEY_CHARS} characters");
            return Err(Error::field("Idempotency-Key", expected));
        }
        Ok(Some(IdempotencyKey::new(scope(), key, body)))
    }

    /// Whether the `Authorization` header holds more than one credential. The gateway joins repeated headers by commas.
    pub fn has_several_credentials(&self) -> bool {
        self.headers().get_all("authorization").iter().count() > 1 || self.authorization().is_some_and(has_several)
    }

    /// The body as JSON, whatever its content type says; an object that repeats a key is refused.
    pub fn json(&self) -> Result<Value, Error> {
        self.json_up_to(MAX_BODY_BYTES)
    }

    /// The same for an endpoint with a limit of its own, in bytes.
    pub fn json_up_to(&self, max_bytes: usize) -> Result<Value, Error> {
        let bytes: &[u8] = self.parts.body().as_ref();
        if bytes.len() > max_bytes {
            return Err(Error::TooLarge(max_bytes));
        }
        let text = std::str::from_utf8(bytes).map_err(|_| Error::body("the body is not UTF-8"))?;
        if text.trim().is_empty() {
            return Err(Error::body("the body is empty; a JSON object is expected"));
        }
        wire::json::parse(text)
    }

    /// The body as JSON where it may be left out: then an empty object.
    pub fn json_or_empty(&self) -> Result<Value, Error> {
        let bytes: &[u8] = self.parts.body().as_ref();
        if bytes.is_empty() { Ok(json!({})) } else { self.json() }
    }

    /// The scheme and host that the caller used, without a trailing slash.
    fn base_url(&self) -> String {
        let scheme = self.header("x-forwarded-proto").unwrap_or("https");
        format!("{scheme}://{}", self.header("host").unwrap_or_default())
    }

    /// {base_url}/<random_string>/<CHANNEL_PUBLIC_ID>, on the host that the caller used.
    pub fn channel_endpoint(&self, secret: &str, channel_id: &str) -> String {
        format!("{}/channel/{secret}/{channel_id}", self.base_url())
    }

    /// The caller's address as the gateway saw it. A header could be forged.
    pub fn source_address(&self) -> String {
        match self.parts.request_context_ref() {
            Some(RequestContext::ApiGatewayV2(context)) => context.http.source_ip.clone().unwrap_or_default(),
            _ => String::new(),
        }
    }

    /// The route's template: the path itself holds secrets.
    fn route(&self) -> String {
        match self.parts.request_context_ref() {
            Some(RequestContext::ApiGatewayV2(context)) => context.route_key.clone().unwrap_or_default(),
            _ => String::new(),
        }
    }

    /// The gateway's own id of the request, which its access log has.
    fn gateway_id(&self) -> Option<String> {
        match self.parts.request_context_ref() {
            Some(RequestContext::ApiGatewayV2(context)) => context.request_id.clone(),
            _ => None,
        }
    }
}

/// Whether an `Authorization` header holds several credentials (RFC 9110, 11.4): a comma also stands between the parameters
/// of one.
fn has_several(authorization: &str) -> bool {
    let mut is_quoted = false;
    let parts = authorization.split(|character| {
        is_quoted ^= character == '"';
        character == ',' && !is_quoted
    });
    let is_parameter = |part: &str| {
        let (name, value) = part.split_once('=').unwrap_or_default();
        !name.trim().is_empty() && !name.trim().contains(' ') && !value.is_empty() && !value.starts_with('=')
    };
    parts.map(str::trim).filter(|part| !part.is_empty()).skip(1).any(|part| !is_parameter(part))
}

type Handler = Arc<dyn Fn(Request) -> BoxFuture<'static, Result<Response, Error>> + Send + Sync>;

/// Runs an HTTP function: opens what the handler uses and answers requests until the process is ended.
///
/// The handler is boxed before it meets the runtime, so that the runtime's generic loop is compiled once, in
/// this library, and not in every function.
pub async fn run<R, H, F>(handle: H) -> ExitCode
where
    R: Dependency,
    H: Fn(R, Request) -> F + Send + Sync + 'static,
    F: Future<Output = Result<Response, Error>> + Send + 'static,
{
    crate::runtime::log::start();
    match dependencies::open::<R>().await {
        Ok(resources) => serve(Arc::new(move |request| Box::pin(handle(resources.clone(), request)))).await,
        Err(missing) => {
            tracing::error!("{missing}");
            ExitCode::FAILURE
        }
    }
}

async fn serve(handler: Handler) -> ExitCode {
    let answer = service_fn(move |request: lambda_http::Request| answer(Arc::clone(&handler), request));
    match lambda_http::run(answer).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::warn!(%error, "the runtime ended");
            ExitCode::FAILURE
        }
    }
}

async fn answer(
    handler: Handler,
    request: lambda_http::Request,
) -> Result<lambda_http::Response<Body>, lambda_http::Error> {
    let started = Instant::now();
    let request_id = request.lambda_context_ref().map(|context| context.request_id.clone());
    let request = Request::new(request);
    let (route, gateway_id) = (request.route(), request.gateway_id());
    // On every line that is written on the way: what is queued meanwhile is found by the request.
    let span = tracing::error_span!("request", request_id);
    let result = handler(request).instrument(span).await;
    let context = result.as_ref().err().and_then(Error::context).map(|context| format!("{context:?}"));
    let response = result.unwrap_or_else(|error| Response::error(&error));
    let duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    let Response { status, message_id, their_id, .. } = &response;
    match context {
        None => tracing::info!(route, request_id, gateway_id, message_id, their_id, status, duration_ms, "answered"),
        Some(context) => tracing::error!(route, request_id, gateway_id, status, duration_ms, context, "failed"),
    }
    if *status == 429 {
        metrics::rate_limited(&route);
    }
    Ok(response.into_lambda()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_counted_and_parameters_are_not() {
        let table = [
            ("Bearer a", false),
            ("secret", false),
            ("Bearer a,", false),
            ("Bearer a,Bearer b", true),
            ("Bearer a, Bearer b==", true),
            ("one,two", true),
            ("Bearer a, Basic YWJj", true),
            (r#"Digest username="a, b", realm = "r", nonce=5"#, false),
            (r#"Digest username="a", Bearer b"#, true),
        ];
        for (header, expected) in table {
            assert_eq!(has_several(header), expected, "{header}");
        }
    }

    #[test]
    fn a_file_is_sent_in_the_best_accepted_coding() {
        let file = File { content_type: "text/plain", identity: b"plain", brotli: b"br", gzip: b"gzip" };
        for (accepted, coding) in [
            ("", None),
            ("identity", None),
            ("*", None),
            ("deflate, zstd", None),
            ("gzip", Some("gzip")),
            ("GZip;q=0.5", Some("gzip")),
            ("gzip, deflate, br", Some("br")),
            ("br;q=0, gzip", Some("gzip")),
            ("br; q=0.000,gzip;q=0", None),
            ("brotli", None),
        ] {
            let bytes: &[u8] = coding.map_or(b"plain", str::as_bytes);
            assert_eq!(file.encoded(accepted), (coding, bytes), "{accepted}");
        }
    }
}
