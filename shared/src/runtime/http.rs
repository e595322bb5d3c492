//! Runs HTTP functions behind API Gateway, called "the gateway" in this module. Only this module logs request errors
//! and turns them into response bodies.

use std::borrow::Cow;
use std::future::ready;
use std::process::ExitCode;
use std::time::Instant;

use futures_util::future::{BoxFuture, TryFutureExt};
use lambda_http::http::{HeaderMap, HeaderValue, Method};
use lambda_http::request::RequestContext;
use lambda_http::{Body, IntoResponse, RequestExt, service_fn};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tracing::Instrument;

use crate::domain::chats::idempotency_key::IdempotencyKey;
use crate::domain::chats::message_content::truncate_chars;
use crate::domain::sha256;
use crate::domain::text::digits::parse_canonical_number;
use crate::domain::trace_context::TraceContext;
use crate::error::{Error, ErrorResponse};
use crate::runtime::dependencies::Dependency;
use crate::runtime::distribution::Distribution;
use crate::runtime::gzip;
use crate::runtime::metrics;
use crate::runtime::startup::{self, BoxedHandler, Handler, RuntimeLoop};
use crate::runtime::trace::{SpanResult, Tracer};
use crate::wire;
use crate::wire::fields::reader;
use crate::wire::otlp::SpanKind;

/// The maximum size of a request body, unless the endpoint has its own limit.
const MAX_BODY_BYTES: usize = 128 * 1024;
/// Browsers that have seen this header use only HTTPS for the host for a year. They ignore it in a response over HTTP.
const STRICT_TRANSPORT_SECURITY: &str = "max-age=31536000";
const JSON_CONTENT_TYPE: &str = "application/json; charset=utf-8";
const MAX_IDEMPOTENCY_KEY_CHARS: usize = 255;
/// The maximum length of a caller's message id in the log. A longer id is truncated.
const MAX_LOGGED_ID_CHARS: usize = 64;
const MAX_USER_AGENT_CHARS: usize = 200;

pub struct Request {
    /// The method. A HEAD request is handled like a GET request, and its response is sent without the body.
    pub method: Method,
    parts: lambda_http::Request,
    is_from_distribution: bool,
}

#[derive(Debug)]
pub struct Response {
    status: u16,
    body: Payload,
    content_type: &'static str,
    cache_control: &'static str,
    headers: Vec<(&'static str, String)>,
    message_id: Option<String>,
    caller_message_id: Option<String>,
}

#[derive(Debug)]
enum Payload {
    Json(String),
    Text(String),
    Bytes(Cow<'static, [u8]>),
}

/// A file that is embedded in the function's executable, both uncompressed and compressed.
pub struct EmbeddedFile {
    pub content_type: &'static str,
    /// The uncompressed content.
    pub identity: &'static [u8],
    pub brotli: &'static [u8],
    pub gzip: &'static [u8],
}

impl EmbeddedFile {
    /// Returns the best content coding that the value of an `Accept-Encoding` header allows (brotli before gzip), and
    /// the file in that coding. The coding is `None` if the file is sent uncompressed.
    fn encoded(&self, accept_encoding: &str) -> (Option<&'static str>, &'static [u8]) {
        if accepts(accept_encoding, "br") {
            (Some("br"), self.brotli)
        } else if accepts(accept_encoding, "gzip") {
            (Some("gzip"), self.gzip)
        } else {
            (None, self.identity)
        }
    }
}

/// Whether the value of an `Accept-Encoding` header lists `coding` with a weight above zero.
fn accepts(accept_encoding: &str, coding: &str) -> bool {
    accept_encoding.split(',').any(|item| {
        let mut parts = item.split(';').map(str::trim);
        let is_named = parts.next().is_some_and(|name| name.eq_ignore_ascii_case(coding));
        let weight = parts.find_map(|part| part.strip_prefix(['q', 'Q'])?.strip_prefix('=')?.parse::<f32>().ok());
        is_named && weight.is_none_or(|weight| weight > 0.0)
    })
}

impl Response {
    pub fn ok(body: impl Serialize) -> Self {
        Self::new(200, body)
    }

    pub fn created(body: impl Serialize) -> Self {
        Self::new(201, body)
    }

    pub fn conflict(body: impl Serialize) -> Self {
        Self::new(409, body)
    }

    pub fn accepted(body: impl Serialize) -> Self {
        Self::new(202, body)
    }

    /// Creates a response that browsers save as a file with this name.
    pub fn csv(text: String, file_name: &str) -> Self {
        let response = Self::new(200, Value::Null);
        let disposition = ("content-disposition", format!("attachment; filename=\"{file_name}\""));
        Self { body: Payload::Text(text), content_type: "text/csv; charset=utf-8", ..response }
            .with_headers([disposition])
    }

    /// Sends the client to another address, which must not get the address of this request.
    pub fn redirect(url: String) -> Self {
        let headers = [("location", url), ("referrer-policy", "no-referrer".to_owned())];
        Self {
            body: Payload::Text(String::new()),
            content_type: "text/plain; charset=utf-8",
            ..Self::new(302, Value::Null)
        }
        .with_headers(headers)
    }

    pub(crate) fn xml(document: String) -> Self {
        let response = Self::new(200, Value::Null);
        Self { body: Payload::Text(document), content_type: "text/xml; charset=utf-8", ..response }
    }

    /// Creates a response with a public JSON document. The status is 200, or 304 if the client's cached copy is
    /// current.
    pub fn embedded_json(text: &'static str, request: &Request) -> Self {
        Self::cacheable(text.as_bytes(), JSON_CONTENT_TYPE, "public, max-age=300", request)
    }

    /// Creates a response with JSON that clients may keep if they ask each time whether it has changed. The status is
    /// 200, or 304 if the client's copy is current.
    pub fn revalidated(body: impl Serialize, request: &Request) -> Result<Self, Error> {
        let bytes = serde_json::to_vec(&body).map_err(Error::internal)?;
        Ok(Self::cacheable(bytes, JSON_CONTENT_TYPE, "private, no-cache", request))
    }

    /// Creates a response with a file in the best content coding that the client accepts. The status is 200, or 304 if
    /// the client's cached copy is current.
    pub fn file(file: &EmbeddedFile, cache_control: &'static str, request: &Request) -> Self {
        let (coding, bytes) = file.encoded(request.header("accept-encoding").unwrap_or_default());
        let coding = coding.map(|coding| ("content-encoding", coding.to_owned()));
        let headers = [("vary", "accept-encoding".to_owned())].into_iter().chain(coding);
        Self::cacheable(bytes, file.content_type, cache_control, request).with_headers(headers)
    }

    /// Like [`Response::file`], with a text in front of the file. The file is compressed with gzip if the client
    /// accepts it, or not at all; the text is never compressed.
    pub fn text_and_file(text: &str, file: &EmbeddedFile, cache_control: &'static str, request: &Request) -> Self {
        let accepted = accepts(request.header("accept-encoding").unwrap_or_default(), "gzip");
        let compressed = if accepted { gzip::prepend(text.as_bytes(), file.gzip, file.identity) } else { None };
        let coding = compressed.as_ref().map(|_| ("content-encoding", "gzip".to_owned()));
        let headers = [("vary", "accept-encoding".to_owned())].into_iter().chain(coding);
        let bytes = compressed.unwrap_or_else(|| [text.as_bytes(), file.identity].concat());
        Self::cacheable(bytes, file.content_type, cache_control, request).with_headers(headers)
    }

    pub fn with_headers(mut self, headers: impl IntoIterator<Item = (&'static str, String)>) -> Self {
        self.headers.extend(headers);
        self
    }

    fn cacheable(
        bytes: impl Into<Cow<'static, [u8]>>,
        content_type: &'static str,
        cache_control: &'static str,
        request: &Request,
    ) -> Self {
        let bytes = bytes.into();
        let etag = format!("\"{}\"", sha256::hex_digest(&bytes));
        let if_none_match = request.header("if-none-match").unwrap_or_default();
        let is_current = if_none_match.split(',').any(|cached| cached.trim().trim_start_matches("W/") == etag);
        let (status, body) = if is_current { (304, Cow::default()) } else { (200, bytes) };
        let (body, headers) = (Payload::Bytes(body), vec![("etag", etag)]);
        Self { status, body, content_type, cache_control, headers, message_id: None, caller_message_id: None }
    }

    fn new(status: u16, body: impl Serialize) -> Self {
        let (status, body) = match serde_json::to_string(&body) {
            Ok(text) => (status, text),
            Err(error) => {
                tracing::error!(%error, "the response could not be serialized");
                let internal = Error::internal("the response could not be serialized");
                (
                    internal.status(),
                    json!({ "error": { "code": internal.code(), "message": internal.to_string() } }).to_string(),
                )
            }
        };
        let (body, headers) = (Payload::Json(body), Vec::new());
        Self {
            status,
            body,
            content_type: JSON_CONTENT_TYPE,
            cache_control: "no-store",
            headers,
            message_id: None,
            caller_message_id: None,
        }
    }

    /// Adds the id of the stored message to the request's log line. The log lines of the message's deliveries contain
    /// the same id.
    pub fn with_logged_message_id(self, message_id: &str) -> Self {
        Self { message_id: Some(message_id.to_owned()), ..self }
    }

    pub fn with_logged_caller_message_id(self, caller_message_id: Option<String>) -> Self {
        Self { caller_message_id: caller_message_id.map(|id| truncate_chars(&id, MAX_LOGGED_ID_CHARS)), ..self }
    }

    fn error(error: &ErrorResponse) -> Self {
        let ErrorResponse { status, code, message, cause } = error;
        let cause = cause.as_ref();
        let mut fields = json!({ "code": code, "message": message });
        if let (Some(field), Some(fields)) = (cause.and_then(Error::invalid_field), fields.as_object_mut()) {
            fields.insert("field".to_owned(), json!(field));
        }
        let wait = cause
            .and_then(Error::retry_after)
            .map(|wait| ("retry-after", wait.as_secs_f64().ceil().max(1.0).to_string()));
        let allow = cause.and_then(Error::allowed_methods).map(|methods| ("allow", methods.to_owned()));
        let headers = wait.into_iter().chain(allow).collect();
        Self { headers, ..Self::new(*status, json!({ "error": fields })) }
    }

    fn without_body(self) -> Self {
        Self { body: Payload::Bytes(Cow::default()), ..self }
    }

    fn into_lambda(self) -> Result<UnconvertedResponse, lambda_http::http::Error> {
        let mut response = lambda_http::Response::builder()
            .status(self.status)
            .header("content-type", self.content_type)
            .header("cache-control", self.cache_control)
            .header("x-content-type-options", "nosniff")
            .header("strict-transport-security", STRICT_TRANSPORT_SECURITY);
        for (name, value) in self.headers {
            response = response.header(name, value);
        }
        let body = match self.body {
            Payload::Json(text) => Body::Text(text),
            Payload::Text(text) => Body::Text(text),
            // Text does not need to be sent in base64.
            Payload::Bytes(bytes) => {
                String::from_utf8(bytes.into_owned()).map_or_else(|error| Body::Binary(error.into_bytes()), Body::Text)
            }
        };
        response.body(body).map(UnconvertedResponse)
    }
}

/// A response whose body lambda_http sends unchanged. The conversion that lambda_http applies to other responses would
/// add the character sets of encoding_rs to every executable, and would remove a byte-order mark from the beginning of
/// a text.
struct UnconvertedResponse(lambda_http::Response<Body>);

impl IntoResponse for UnconvertedResponse {
    fn into_response(self) -> BoxFuture<'static, lambda_http::Response<Body>> {
        Box::pin(ready(self.0))
    }
}

impl Request {
    fn new(parts: lambda_http::Request, distribution: &Distribution) -> Self {
        let is_from_distribution = distribution.sent(parts.headers());
        let method = if parts.method() == Method::HEAD { Method::GET } else { parts.method().clone() };
        Self { method, parts, is_from_distribution }
    }

    #[cfg(test)]
    pub(crate) fn of_event(event: &[u8]) -> Result<Self, Box<dyn std::error::Error>> {
        Ok(Self::new(lambda_http::request::from_str(std::str::from_utf8(event)?)?, &Distribution::default()))
    }

    #[cfg(test)]
    pub(crate) fn through_distribution(self) -> Self {
        Self { is_from_distribution: true, ..self }
    }

    pub(crate) fn headers(&self) -> &HeaderMap {
        self.parts.headers()
    }

    /// Returns the value of a header. Returns `None` if it is missing or not ASCII.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers().get(name)?.to_str().ok()
    }

    /// Returns the value of a header that the CloudFront distribution adds. Returns `None` if the request did not come
    /// through the distribution, because its client may then have forged the header.
    pub(crate) fn distribution_header(&self, name: &str) -> Option<&str> {
        self.header(name).filter(|_| self.is_from_distribution)
    }

    /// Returns the host that the client used, which the distribution has checked. Returns `None` if the request did not
    /// come through the distribution.
    pub(crate) fn distribution_host(&self) -> Option<&str> {
        self.distribution_header("x-viewer-host")
    }

    /// Fails with status 405 if the method of the request is not in `allowed`, the value of the header `Allow`.
    pub fn require_method(&self, allowed: &'static str) -> Result<(), Error> {
        let is_allowed = allowed.split(", ").any(|method| self.method == method);
        if is_allowed { Ok(()) } else { Err(Error::MethodNotAllowed(allowed)) }
    }

    /// Returns the percent-decoded path. It can contain secrets, so it must not be logged.
    pub fn path(&self) -> &str {
        self.parts.raw_http_path()
    }

    /// Returns a path parameter of the route, or an empty string if the route has no parameter with this name.
    pub fn path_segment(&self, name: &str) -> String {
        self.parts.path_parameters().first(name).unwrap_or_default().to_owned()
    }

    pub fn has_path_segment(&self, name: &str) -> bool {
        self.parts.path_parameters().first(name).is_some()
    }

    /// Returns the error for a method that [`Request::require_method`] allows and that the function does not handle.
    pub fn unexpected_method(&self) -> Error {
        Error::internal("the function does not handle a method that it allows")
    }

    /// Returns a path parameter that must be a whole number. For any other value, returns the error `NotFound`.
    pub fn path_number(&self, name: &str) -> Result<u64, Error> {
        parse_canonical_number(&self.path_segment(name)).ok_or(Error::NotFound)
    }

    pub fn query(&self, name: &str) -> Option<String> {
        self.parts.query_string_parameters().first(name).map(str::to_owned)
    }

    pub fn bearer_token(&self) -> Option<&str> {
        let (scheme, token) = self.header("authorization")?.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
    }

    pub fn authorization(&self) -> Option<&str> {
        self.header("authorization")
    }

    /// Returns the idempotency key of the request, which combines the `Idempotency-Key` header with a scope and the
    /// body. The header need not be valid UTF-8. Returns `None` if the header is missing or empty.
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

    /// Whether the request contains more than one credential. The gateway joins repeated `Authorization` headers with
    /// commas, so a single header can also contain several credentials.
    pub(crate) fn has_several_credentials(&self) -> bool {
        self.headers().get_all("authorization").iter().count() > 1
            || self.authorization().is_some_and(has_several_credentials)
    }

    /// Parses the body as JSON, regardless of its content type. A body with a duplicate key in any of its objects is
    /// rejected.
    pub fn json(&self) -> Result<Value, Error> {
        self.json_with_limit(MAX_BODY_BYTES)
    }

    /// Reads the JSON body into a type of the contract.
    pub fn body_as<T: DeserializeOwned>(&self) -> Result<T, Error> {
        reader::read(&self.json()?)
    }

    /// Like [`body_as`](Self::body_as), but an empty body is treated as an empty object.
    pub fn optional_body_as<T: DeserializeOwned>(&self) -> Result<T, Error> {
        reader::read(&self.json_or_empty()?)
    }

    /// Reads the query parameters into a type of the contract.
    pub fn query_as<T: DeserializeOwned>(&self) -> Result<T, Error> {
        let parameters = self.parts.query_string_parameters();
        reader::read_query(parameters.iter().map(|(name, value)| (name.to_owned(), value.to_owned())))
    }

    pub fn json_with_limit(&self, max_bytes: usize) -> Result<Value, Error> {
        let bytes: &[u8] = self.parts.body().as_ref();
        if bytes.len() > max_bytes {
            return Err(Error::TooLarge(max_bytes));
        }
        let text = std::str::from_utf8(bytes).map_err(|_| Error::body("the body is not UTF-8"))?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if text.trim().is_empty() {
            return Err(Error::body("the body is empty; a JSON object is expected"));
        }
        wire::fields::json_parser::parse(text)
    }

    /// Like [`json`](Self::json), but an empty body is treated as an empty object.
    pub fn json_or_empty(&self) -> Result<Value, Error> {
        let bytes: &[u8] = self.parts.body().as_ref();
        if bytes.is_empty() { Ok(json!({})) } else { self.json() }
    }

    pub(crate) fn path_and_query(&self) -> String {
        let query = self.parts.uri().query().map(|query| format!("?{query}")).unwrap_or_default();
        format!("{}{query}", self.path())
    }

    /// Fails with `TooLarge` if the body is larger than `MAX_BODY_BYTES`.
    pub(crate) fn body(&self) -> Result<&[u8], Error> {
        let bytes: &[u8] = self.parts.body().as_ref();
        if bytes.len() > MAX_BODY_BYTES { Err(Error::TooLarge(MAX_BODY_BYTES)) } else { Ok(bytes) }
    }

    /// Returns the beginning of the client's `User-Agent` header.
    pub fn user_agent(&self) -> Option<String> {
        Some(truncate_chars(self.header("user-agent")?, MAX_USER_AGENT_CHARS))
    }

    /// Returns the client's IP address as reported by the distribution or, without one, by the gateway. Other headers
    /// are not used, because a client could forge them.
    pub fn source_address(&self) -> String {
        if let Some(address) = self.distribution_header("x-viewer-address") {
            return address.to_owned();
        }
        match self.parts.request_context_ref() {
            Some(RequestContext::ApiGatewayV2(context)) => context.http.source_ip.clone().unwrap_or_default(),
            _ => String::new(),
        }
    }

    /// Returns the route's template. Logs contain the template instead of the path, because the path can contain
    /// secrets.
    fn route(&self) -> String {
        match self.parts.request_context_ref() {
            Some(RequestContext::ApiGatewayV2(context)) => context.route_key.clone().unwrap_or_default(),
            _ => String::new(),
        }
    }

    /// Returns the trace context that the caller has sent, or `None` if it is missing or invalid. The gateway joins
    /// repeated headers with commas.
    fn trace_context(&self) -> Option<TraceContext> {
        let joined = |name| {
            let values: Option<Vec<_>> = self.headers().get_all(name).iter().map(|value| value.to_str().ok()).collect();
            values.map(|values| values.join(",")).unwrap_or_default()
        };
        TraceContext::parse(&joined("traceparent"), &joined("tracestate"))
    }

    /// Returns the id that the Lambda service has given to the invocation for X-Ray.
    fn xray_trace_id(&self) -> Option<&str> {
        self.parts.lambda_context_ref()?.xray_trace_id.as_deref()
    }

    /// Returns the id of the API that received the request. The gateway sets it.
    pub(crate) fn api_id(&self) -> String {
        match self.parts.request_context_ref() {
            Some(RequestContext::ApiGatewayV2(context)) => context.apiid.clone().unwrap_or_default(),
            _ => String::new(),
        }
    }

    /// Returns the id that the gateway has assigned to the request. The gateway's access log contains the same id.
    fn gateway_id(&self) -> Option<String> {
        match self.parts.request_context_ref() {
            Some(RequestContext::ApiGatewayV2(context)) => context.request_id.clone(),
            _ => None,
        }
    }
}

/// Whether the value of an `Authorization` header contains several credentials (RFC 9110, 11.4). Not every value with a
/// comma does, because commas also separate the parameters of a single credential.
fn has_several_credentials(authorization: &str) -> bool {
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

type HttpHandler = BoxedHandler<Request, Result<Response, ErrorResponse>>;

pub fn run<R: Dependency, E: Into<ErrorResponse> + 'static>(
    handler: impl Handler<R, Request, Result<Response, E>>,
) -> ExitCode {
    run_with(handler, |handler| serve(handler, |_| Vec::new()))
}

/// Like [`run`], for an endpoint that the pages of other sites call. Every response, even an error, lets the page read
/// it. The endpoint itself decides which sites it serves.
pub fn run_cross_origin<R: Dependency>(handler: impl Handler<R, Request, Result<Response, Error>>) -> ExitCode {
    run_with(handler, |handler| serve(handler, cross_origin_headers))
}

fn run_with<R: Dependency, E: Into<ErrorResponse> + 'static>(
    handler: impl Handler<R, Request, Result<Response, E>>,
    serve: fn(HttpHandler) -> RuntimeLoop,
) -> ExitCode {
    let handler = move |dependencies: R, request: Request| handler.call(dependencies, request).map_err(Into::into);
    startup::run(handler, serve)
}

type ExtraHeaders = fn(&Request) -> Vec<(&'static str, String)>;

fn serve(handler: HttpHandler, extra_headers: ExtraHeaders) -> RuntimeLoop {
    Box::pin(async move {
        let (distribution, tracer) = (Distribution::read(), Tracer::read());
        let handle = |request| handle_request(&handler, extra_headers, &tracer, Request::new(request, &distribution));
        lambda_http::run(service_fn(handle)).await
    })
}

/// Returns the headers that let the page that sent the request read the response.
fn cross_origin_headers(request: &Request) -> Vec<(&'static str, String)> {
    let vary = ("vary", "Origin".to_owned());
    let allow = request.header("origin").map(|origin| ("access-control-allow-origin", origin.to_owned()));
    // Scripts on other sites can read the Retry-After header only if the response exposes it.
    let expose = allow.as_ref().map(|_| ("access-control-expose-headers", "Retry-After".to_owned()));
    [vary].into_iter().chain(allow).chain(expose).collect()
}

async fn handle_request(
    handler: &HttpHandler,
    extra_headers: ExtraHeaders,
    tracer: &Tracer,
    request: Request,
) -> Result<UnconvertedResponse, lambda_http::Error> {
    let started = Instant::now();
    let extra_headers = extra_headers(&request);
    let request_id = request.parts.lambda_context_ref().map(|context| context.request_id.clone());
    let is_head = request.parts.method() == Method::HEAD;
    let (route, gateway_id) = (request.route(), request.gateway_id());
    let invocation = tracer.begin_invocation();
    let span = invocation.open_span_or_follow_xray(request.trace_context(), request.xray_trace_id());
    let trace_id = span.context().trace_id_hex();
    // Adds the ids to every log line that is written during the request, for example when a delivery is queued.
    let log_span = tracing::error_span!("request", request_id, trace_id);
    let result = span.run(handler(request)).instrument(log_span).await;
    let cause = result.as_ref().err().and_then(|error| error.cause.as_ref());
    let context = cause.and_then(Error::context).map(|context| format!("{context:?}"));
    let response = result.unwrap_or_else(|error| Response::error(&error));
    let duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    let Response { status, message_id, caller_message_id, .. } = &response;
    match context {
        None => tracing::info!(
            route,
            request_id,
            gateway_id,
            trace_id,
            message_id,
            caller_message_id,
            status,
            duration_ms,
            "request answered"
        ),
        Some(context) => {
            tracing::error!(route, request_id, gateway_id, trace_id, status, duration_ms, context, "request failed");
        }
    }
    if *status == 429 {
        metrics::count_rate_limited(&route);
    }
    span.end(|| span_result(route, *status));
    invocation.export().await;
    let response = if is_head { response.without_body() } else { response }.with_headers(extra_headers);
    Ok(response.into_lambda()?)
}

/// The name is the route's template, because the path can contain secrets.
fn span_result(route: String, status: u16) -> SpanResult {
    let attributes =
        vec![("http.route", route.as_str().into()), ("http.response.status_code", u64::from(status).into())];
    SpanResult { kind: SpanKind::Server, name: route, has_failed: status >= 500, attributes }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_credentials_differ_from_parameters() {
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
            assert_eq!(has_several_credentials(header), expected, "{header}");
        }
    }

    #[tokio::test]
    async fn every_response_has_the_security_headers() {
        let response = Response::csv(String::new(), "chats.csv").into_lambda().unwrap().into_response().await;
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("strict-transport-security", "max-age=31536000"),
            ("content-disposition", "attachment; filename=\"chats.csv\""),
        ] {
            assert_eq!(response.headers()[name], value);
        }
    }

    #[test]
    fn byte_order_mark_before_a_body_is_skipped() {
        let mut event: Value =
            serde_json::from_str(include_str!("../../../tests/events/agent-show-chat.json")).unwrap();
        event["body"] = json!("\u{feff}{\"after\": 12.0}");
        let request = Request::of_event(event.to_string().as_bytes()).unwrap();
        assert_eq!(request.json().unwrap(), json!({ "after": 12 }));
    }

    #[tokio::test]
    async fn body_is_sent_as_text_if_possible() {
        let bytes = |bytes: &'static [u8]| Response { body: Payload::Bytes(bytes.into()), ..Response::ok(Value::Null) };
        for (response, expected) in [
            (Response::ok(json!({"a": "ü"})), Body::Text("{\"a\":\"ü\"}".to_owned())),
            (Response::csv("\u{feff}a;b".to_owned(), "chats.csv"), Body::Text("\u{feff}a;b".to_owned())),
            (bytes(b"plain"), Body::Text("plain".to_owned())),
            (bytes(b"\x1f\x8b"), Body::Binary(vec![0x1f, 0x8b])),
        ] {
            let sent = response.into_lambda().unwrap().into_response().await;
            assert_eq!(*sent.body(), expected);
        }
    }

    #[test]
    fn file_is_sent_in_the_best_accepted_coding() {
        let file = EmbeddedFile { content_type: "text/plain", identity: b"plain", brotli: b"br", gzip: b"gzip" };
        for (accepted, coding) in [
            ("", None),
            ("identity", None),
            ("*", None),
            ("deflate, zstd", None),
            ("gzip", Some("gzip")),
            ("GZip;q=0.5", Some("gzip")),
            ("gzip, deflate, br", Some("br")),
            ("br;q=0, gzip", Some("gzip")),
            ("br; q=0.000,gzip;Q=0", None),
            ("brotli", None),
        ] {
            let bytes: &[u8] = coding.map_or(b"plain", str::as_bytes);
            assert_eq!(file.encoded(accepted), (coding, bytes), "{accepted}");
        }
    }
}
