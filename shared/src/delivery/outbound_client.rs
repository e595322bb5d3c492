//! The HTTP client for requests to receivers. It sends POST requests that are signed or contain a password. Requests
//! have a timeout, redirects are not followed, and the size of the response is limited.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::header::{CONTENT_TYPE, HeaderValue};
use reqwest::{Client, RequestBuilder, redirect};
use url::Url;

use crate::delivery::guarded_dns_resolver::GuardedResolver;
use crate::delivery::signed_post::{HIDDEN, SignedPost, USER_AGENT};
use crate::domain::bots::bot::{Provider, TOKEN_PLACEHOLDER};
use crate::domain::channels::channel::{ApiSettings, CHANNEL_ID_PLACEHOLDER};
use crate::domain::chats::message_content::truncate_bytes;
use crate::domain::deliveries::delivery::{Attempt, Failure, MAX_ANSWER_BYTES, Outcome};
use crate::domain::deliveries::ssrf_guard::{ForbiddenUrl, SsrfGuard};
use crate::domain::timestamp::Timestamp;
use crate::domain::trace_context::TraceContext;
use crate::error::Error;
use crate::runtime::clock;
use crate::runtime::dependencies::{Dependency, StartupContext};
use crate::runtime::trace::{self, SpanResult};
use crate::wire::otlp::SpanKind;
use crate::wire::receiver_response::ReceiverResponse;

/// The outcome of an attempt, and the attempt for the delivery log.
pub type AttemptFuture<'a> = BoxFuture<'a, Result<(Outcome, Attempt), Error>>;

/// The maximum number of bytes that are kept of a response body. The rest is ignored.
const MAX_RESPONSE_BYTES: usize = 64 * 1024;

/// Secrets that are shorter are not replaced in responses, because they could be part of any word.
const MIN_HIDDEN_SECRET_BYTES: usize = 6;

/// The only HTTP client that calls receivers. It never calls an address that the SSRF guard forbids.
#[derive(Clone)]
pub struct OutboundClient {
    /// `None` if the client could not be built. In that case nothing is sent, because a client without the guard must
    /// not be used.
    client: Option<Client>,
    guard: Arc<SsrfGuard>,
}

/// A POST request with a form and HTTP basic authentication.
pub(crate) struct FormPost<'a> {
    pub url: Url,
    /// The form's content, encoded as `application/x-www-form-urlencoded`.
    pub form: String,
    pub user: &'a str,
    pub password: &'a str,
    /// The maximum duration of the whole exchange.
    pub timeout: Duration,
}

/// Why no complete response was received.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SendError {
    /// Requests to this address are not allowed. A retry would fail again.
    #[error("the address {0}")]
    ForbiddenUrl(ForbiddenUrl),
    /// The connection was refused, the name did not resolve, or TLS failed.
    #[error("no connection")]
    NoConnection,
    /// The value is the timeout in seconds.
    #[error("no response within {0} seconds")]
    TimedOut(u64),
    #[error("the connection was closed before the response was complete")]
    Closed,
}

pub(crate) struct PostResult {
    pub result: Result<ReceiverResponse, SendError>,
    /// The attempt for the delivery log. Its `error` is set only if no complete response was received.
    pub attempt: Attempt,
    /// The secrets in the request that an echo of it in the response would reveal.
    pub secrets: Vec<String>,
}

impl PostResult {
    /// Returns the outcome and the attempt for the delivery log. `read` interprets the response. Without a complete
    /// response, the outcome is a retry, or a final rejection if the address is forbidden.
    pub(crate) fn into_outcome(self, read: impl FnOnce(&ReceiverResponse) -> Outcome) -> (Outcome, Attempt) {
        let Self { result, attempt, secrets } = self;
        let outcome = match &result {
            Ok(answer) => read(answer),
            Err(forbidden @ SendError::ForbiddenUrl(_)) => rejected(forbidden.to_string()),
            Err(send_error @ (SendError::NoConnection | SendError::TimedOut(_) | SendError::Closed)) => {
                Outcome::Retry(send_error.to_string())
            }
        };
        let error = outcome.error().map(str::to_owned);
        let answer = result.ok().filter(|_| error.is_some()).and_then(|response| excerpt(&response.body, &secrets));
        (outcome, Attempt { error, answer, ..attempt })
    }
}

impl Dependency for OutboundClient {
    fn open(startup: &mut StartupContext) -> Self {
        Self::new(SsrfGuard::open(startup))
    }
}

impl OutboundClient {
    #[allow(clippy::disallowed_methods, reason = "the only place that builds a client")]
    pub fn new(guard: SsrfGuard) -> Self {
        let guard = Arc::new(guard);
        let client = Client::builder()
            .http1_only()
            .redirect(redirect::Policy::none())
            .no_proxy()
            // No idle connections are kept, because they would break while Lambda freezes the process.
            .pool_max_idle_per_host(0)
            .dns_resolver(Arc::new(GuardedResolver(Arc::clone(&guard))))
            .user_agent(USER_AGENT)
            .build()
            .ok();
        Self { client, guard }
    }

    pub fn guard(&self) -> &SsrfGuard {
        &self.guard
    }

    /// Signs and sends a request. `timeout` is the maximum duration of the whole exchange, from name resolution to the
    /// last byte of the response. The future is boxed so that the HTTP client is compiled only once, in this crate,
    /// instead of in every function.
    ///
    /// # Errors
    /// Returns an error only if nothing was sent. A failed request is reported in the [`PostResult`].
    pub(crate) fn post<'a>(
        &'a self,
        post: &'a SignedPost,
        timeout: Duration,
    ) -> BoxFuture<'a, Result<PostResult, Error>> {
        Box::pin(async move {
            let client = self.client.as_ref().ok_or_else(|| Error::internal("the HTTP client could not be built"))?;
            let url = post.url.clone().ok_or_else(|| Error::internal("the request has no URL"))?;
            let started_at = clock::now();
            let request = client.post(url.clone()).body(post.body.clone());
            let headers = post.headers(started_at)?.into_iter();
            let request = headers.fold(request, |request, (name, value)| request.header(name, value));
            let result = self.send(url, request, timeout, started_at).await;
            Ok(PostResult { secrets: post.hidden.clone(), ..result })
        })
    }

    /// Sends a form. The future is boxed for the same reason as in [`post`](Self::post).
    ///
    /// # Errors
    /// Returns an error only if nothing was sent. A failed request is reported in the [`PostResult`].
    pub(crate) fn post_form<'a>(&'a self, post: FormPost<'a>) -> BoxFuture<'a, Result<PostResult, Error>> {
        Box::pin(async move {
            let client = self.client.as_ref().ok_or_else(|| Error::internal("the HTTP client could not be built"))?;
            let FormPost { url, form, user, password, timeout } = post;
            let request = client
                .post(url.clone())
                .header(CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"))
                .basic_auth(user, Some(password))
                .body(form);
            let result = self.send(url, request, timeout, clock::now()).await;
            Ok(PostResult { secrets: vec![password.to_owned()], ..result })
        })
    }

    /// Sends bytes. The future is boxed for the same reason as in [`post`](Self::post).
    ///
    /// # Errors
    /// Returns an error only if nothing was sent. A failed request is reported in the [`PostResult`].
    pub(crate) fn post_bytes(
        &self,
        url: Url,
        headers: Vec<(&'static str, String)>,
        body: Vec<u8>,
        timeout: Duration,
    ) -> BoxFuture<'_, Result<PostResult, Error>> {
        Box::pin(async move {
            let client = self.client.as_ref().ok_or_else(|| Error::internal("the HTTP client could not be built"))?;
            let request = headers
                .into_iter()
                .fold(client.post(url.clone()).body(body), |request, (name, value)| request.header(name, value));
            Ok(self.send(url, request, timeout, clock::now()).await)
        })
    }

    /// Each request is a span of its own, whose id the receiver gets.
    async fn send(&self, url: Url, request: RequestBuilder, timeout: Duration, started_at: Timestamp) -> PostResult {
        let (mut status, seconds) = (None, timeout.as_secs_f64().round() as u64);
        let span = trace::open_child_span();
        let request = span.iter().fold(request, |request, span| with_trace_headers(request, span.context()));
        let exchange = clock::timeout(timeout, self.exchange(url, request, &mut status));
        let result = exchange.await.unwrap_or(Err(SendError::TimedOut(seconds)));
        let duration_ms = u64::try_from(clock::now().since(started_at).as_millis()).unwrap_or(u64::MAX);
        let error = result.as_ref().err().map(ToString::to_string);
        if let Some(span) = span {
            span.end(|| span_result(status, error.as_deref()));
        }
        let attempt = Attempt { at: started_at, status, duration_ms, error, answer: None };
        PostResult { result, attempt, secrets: Vec::new() }
    }

    /// `status` is set as soon as the response headers arrive, even if reading the body then fails or times out.
    async fn exchange(
        &self,
        url: Url,
        request: RequestBuilder,
        status: &mut Option<u16>,
    ) -> Result<ReceiverResponse, SendError> {
        // The client does not use its resolver for IP literals, so they are checked here.
        self.guard.check(&url).map_err(SendError::ForbiddenUrl)?;
        let mut response = request.send().await.map_err(|error| send_error(&error))?;
        let response_status = response.status().as_u16();
        *status = Some(response_status);
        let mut body = Vec::new();
        while body.len() < MAX_RESPONSE_BYTES {
            let Some(chunk) = response.chunk().await.map_err(|_| SendError::Closed)? else { break };
            body.extend_from_slice(&chunk);
        }
        body.truncate(MAX_RESPONSE_BYTES);
        Ok(ReceiverResponse { status: response_status, body })
    }
}

fn with_trace_headers(request: RequestBuilder, trace: &TraceContext) -> RequestBuilder {
    let request = request.header("traceparent", trace.traceparent());
    trace.tracestate().into_iter().fold(request, |request, state| request.header("tracestate", state))
}

/// The span contains nothing of the URL, because every part of it can contain a secret.
fn span_result(status: Option<u16>, error: Option<&str>) -> SpanResult {
    let status = status.map(u64::from);
    let mut attributes = vec![("http.request.method", "POST".into())];
    attributes.extend(status.map(|status| ("http.response.status_code", status.into())));
    attributes.extend(error.map(|error| ("error.type", error.into())));
    let has_failed = error.is_some() || status.is_none_or(|status| status >= 400);
    SpanResult { kind: SpanKind::Client, name: "POST".to_owned(), has_failed, attributes }
}

/// Returns the beginning of a response body for the delivery log, or `None` if it is blank. Replaces secrets that the
/// receiver repeats.
fn excerpt(body: &[u8], secrets: &[String]) -> Option<String> {
    // Secrets are replaced before the text is cut, so that no part of one remains at its end.
    let text = String::from_utf8_lossy(body);
    let is_long = |secret: &&String| secret.len() >= MIN_HIDDEN_SECRET_BYTES;
    let text = secrets.iter().filter(is_long).fold(text, |text, secret| text.replace(secret.as_str(), HIDDEN).into());
    let text = truncate_bytes(text.trim(), MAX_ANSWER_BYTES).trim_end();
    (!text.is_empty()).then(|| text.to_owned())
}

/// The characters of a token that are escaped in a URL, where the token can be a part of the path or of the query.
const TOKEN_ESCAPES: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'*');

/// Adds a path segment to a URL and keeps its query string.
pub(crate) fn append_segment(base_url: &str, segment: &str) -> Result<Url, Error> {
    let mut url = Url::parse(base_url).map_err(Error::internal)?;
    url.path_segments_mut().map_err(|()| Error::internal("endpoint"))?.pop_if_empty().push(segment);
    Ok(url)
}

/// Returns the URL that a channel's messages are sent to (specification, A-3). If the configured URL contains a
/// placeholder, the channel's id replaces it. Otherwise, the id is appended as the last path segment, unless the
/// channel's settings turn that off. Returns `None` if the integrator fetches the messages.
pub(crate) fn integrator_endpoint(settings: &ApiSettings, channel_id: &str) -> Result<Option<Url>, Error> {
    let Some(url) = settings.integrator_url.as_deref() else { return Ok(None) };
    let endpoint = if url.contains(CHANNEL_ID_PLACEHOLDER) {
        Url::parse(&url.replace(CHANNEL_ID_PLACEHOLDER, channel_id)).map_err(Error::internal)
    } else if settings.append_channel_id {
        append_segment(url, channel_id)
    } else {
        Url::parse(url).map_err(Error::internal)
    };
    endpoint.map(Some)
}

/// Returns the URL that events for a bot are sent to (specification, B-2). If the provider's endpoint contains a
/// placeholder, the bot's token replaces it. Otherwise, the token is appended as the last path segment.
pub(crate) fn provider_endpoint(provider: &Provider, token: &str) -> Result<Url, Error> {
    if !provider.endpoint.contains(TOKEN_PLACEHOLDER) {
        return append_segment(&provider.endpoint, token);
    }
    let encoded = utf8_percent_encode(token, TOKEN_ESCAPES).to_string();
    Url::parse(&provider.endpoint.replace(TOKEN_PLACEHOLDER, &encoded)).map_err(Error::internal)
}

/// Returns a final rejection for an entry that cannot be sent at all, and the attempt for the delivery log.
pub(crate) fn reject_unsent(message: &str) -> (Outcome, Attempt) {
    (rejected(message.to_owned()), unsent(message))
}

pub(crate) const SWITCHED_OFF: &str = "the address is switched off, because it has failed for days";

/// Returns the result of an attempt that makes no request because of the receiver's state. Unlike a rejection, this
/// failure is temporary.
pub(crate) fn retry_unsent(message: &str) -> (Outcome, Attempt) {
    (Outcome::Retry(message.to_owned()), unsent(message))
}

fn unsent(message: &str) -> Attempt {
    Attempt { at: clock::now(), status: None, duration_ms: 0, error: Some(message.to_owned()), answer: None }
}

fn rejected(message: String) -> Outcome {
    Outcome::Rejected(Failure { code: None, message, hidden: false })
}

fn send_error(error: &reqwest::Error) -> SendError {
    if let Some(forbidden) = forbidden(error) {
        SendError::ForbiddenUrl(forbidden)
    } else if error.is_connect() {
        SendError::NoConnection
    } else {
        SendError::Closed
    }
}

/// Returns the SSRF guard's error if it is one of the causes of `error`.
fn forbidden(error: &reqwest::Error) -> Option<ForbiddenUrl> {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(forbidden) = error.downcast_ref::<ForbiddenUrl>() {
            return Some(forbidden.clone());
        }
        cause = error.source();
    }
    None
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::domain::channels::channel::default_api_settings;

    #[test]
    fn missing_answer_is_retried_and_forbidden_address_is_final() {
        let outcome_of = |send_error: SendError| {
            let attempt = Attempt { at: Timestamp(7), status: None, duration_ms: 12, error: None, answer: None };
            PostResult { result: Err(send_error), attempt, secrets: Vec::new() }.into_outcome(|_| Outcome::Delivered)
        };
        let (outcome, attempt) = outcome_of(SendError::ForbiddenUrl(ForbiddenUrl::NotPublic));
        let message = "the address must not lead to a private or special address";
        assert_eq!(outcome, rejected(message.to_owned()));
        let error = Some(message.to_owned());
        assert_eq!(attempt, Attempt { at: Timestamp(7), status: None, duration_ms: 12, error, answer: None });
        let (outcome, attempt) = outcome_of(SendError::TimedOut(3));
        assert_eq!(outcome, Outcome::Retry("no response within 3 seconds".into()));
        assert_eq!(attempt.error.as_deref(), Some("no response within 3 seconds"));
    }

    #[test]
    fn body_of_a_failed_attempt_is_kept_without_secrets() {
        let answer_of = |status: u16, body: &[u8]| {
            let attempt = Attempt { at: Timestamp(7), status: Some(status), duration_ms: 1, error: None, answer: None };
            let result = Ok(ReceiverResponse { status, body: body.to_vec() });
            let posted = PostResult { result, attempt, secrets: vec!["jwt-of-the-user".into(), "a".into()] };
            let interpret = |response: &ReceiverResponse| match response.status {
                200 => Outcome::Delivered,
                status => Outcome::Retry(format!("HTTP {status}")),
            };
            posted.into_outcome(interpret).1.answer
        };
        assert_eq!(answer_of(503, b" upstream connect error\n").as_deref(), Some("upstream connect error"));
        assert_eq!(answer_of(500, b"a jwt-of-the-user \xff").as_deref(), Some("a *** \u{fffd}"));
        assert_eq!((answer_of(500, b"  \n"), answer_of(200, b"fine")), (None, None));
        assert_eq!(answer_of(500, "\u{20ac}".repeat(2_000).as_bytes()).map(|it| it.len()), Some(2_046));
    }

    #[test]
    fn channel_id_and_token_are_placeholders_or_the_last_segment() {
        let table = [
            ("https://a.example", "https://a.example/ID"),
            ("https://a.example/", "https://a.example/ID"),
            ("https://a.example/hook", "https://a.example/hook/ID"),
            ("https://a.example/hook/?key=1", "https://a.example/hook/ID?key=1"),
        ];
        for (base_url, expected) in table {
            assert_eq!(append_segment(base_url, "ID").unwrap().as_str(), expected);
        }
        let integrator_urls = [
            ("https://a.example/{channel_id}/in", true, "https://a.example/ID/in"),
            ("https://a.example/in?c={channel_id}&d={channel_id}", true, "https://a.example/in?c=ID&d=ID"),
            ("https://{channel_id}.a.example", false, "https://id.a.example/"),
            ("https://a.example/in?c=1", false, "https://a.example/in?c=1"),
            ("https://a.example/in?c=1", true, "https://a.example/in/ID?c=1"),
        ];
        for (integrator_url, append_channel_id, expected) in integrator_urls {
            let settings = ApiSettings {
                integrator_url: Some(integrator_url.into()),
                append_channel_id,
                ..default_api_settings()
            };
            assert_eq!(integrator_endpoint(&settings, "ID").unwrap().unwrap().as_str(), expected);
        }
        assert_eq!(append_segment("https://a.example", "a/../b").unwrap().as_str(), "https://a.example/a%2F..%2Fb");
        let endpoints = [
            ("https://b.example/hook?key=1", "https://b.example/hook/a%2F&b?key=1"),
            ("https://b.example/{token}/events", "https://b.example/a%2F%26b/events"),
            ("https://b.example/hook?token={token}&v=1", "https://b.example/hook?token=a%2F%26b&v=1"),
        ];
        for (endpoint, expected) in endpoints {
            let provider = Provider {
                provider_id: "p".into(),
                name: "Bots".into(),
                endpoint: endpoint.into(),
                authorization_hash: None,
                created_at: Timestamp(0),
            };
            assert_eq!(provider_endpoint(&provider, "a/&b").unwrap().as_str(), expected);
        }
    }
}
