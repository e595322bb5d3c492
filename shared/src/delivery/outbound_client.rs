//! One request to somebody else's server, bounded in every direction: time, redirects, size of the answer.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use reqwest::header::{CONTENT_TYPE, HeaderValue, TRANSFER_ENCODING};
use reqwest::{Client, RequestBuilder, redirect};
use url::Url;

use crate::delivery::guarded_resolver::GuardedResolver;
use crate::delivery::signature;
use crate::domain::channel::ChannelSettings;
use crate::domain::delivery::{Attempt, Failure, Outcome};
use crate::domain::target_guard::{Forbidden, Guard};
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::runtime::clock;
use crate::runtime::dependencies::{Dependency, Platform};
use crate::wire::receiver_answer::Answer;

/// What is read of an answer; what follows is left.
const MAX_ANSWER_BYTES: usize = 64 * 1024;

/// The client of every outbound delivery.
#[derive(Clone)]
pub struct Outbound {
    /// None when TLS could not be set up: then nothing is sent, rather than by a client without the guard.
    client: Option<Client>,
    guard: Arc<Guard>,
}

/// A request to send.
pub struct Post<'a> {
    /// Where to.
    pub url: Url,
    /// The JSON body.
    pub body: Vec<u8>,
    /// `webhook-id`: the same on every try.
    pub id: &'a str,
    /// Standard Webhooks secrets; during a rotation two of them sign.
    pub secrets: &'a [&'a str],
    /// Chunked transfer encoding instead of Content-Length.
    pub chunked: bool,
    /// The longest the exchange may take.
    pub timeout: Duration,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoAnswer {
    /// The target may not be called. Final.
    #[error("the address {0}")]
    Forbidden(Forbidden),
    /// Nobody listens, the name does not resolve, or TLS fails.
    #[error("no connection")]
    NoConnection,
    /// It took too long.
    #[error("no answer within {0} seconds")]
    TimedOut(u64),
    /// The connection ended in the middle.
    #[error("the connection was closed before the answer was complete")]
    Closed,
}

/// What a request came to, with its line for the ledger (whose `error` only says why there is no answer).
pub struct Exchange {
    /// The answer or its absence.
    pub result: Result<Answer, NoAnswer>,
    /// The line.
    pub attempt: Attempt,
}

impl Exchange {
    /// What it came to, with its line for the ledger: an answer means what `read` makes of it, no answer is worth another
    /// try, and an address that may not be called is none.
    pub fn judge(self, read: impl FnOnce(&Answer) -> Outcome) -> (Outcome, Attempt) {
        let Self { result, attempt } = self;
        let outcome = match result {
            Ok(answer) => read(&answer),
            Err(forbidden @ NoAnswer::Forbidden(_)) => rejected(forbidden.to_string()),
            Err(no_answer @ (NoAnswer::NoConnection | NoAnswer::TimedOut(_) | NoAnswer::Closed)) => {
                Outcome::TryAgain(no_answer.to_string())
            }
        };
        let error = outcome.error().map(str::to_owned);
        (outcome, Attempt { error, ..attempt })
    }
}

impl Dependency for Outbound {
    fn open(platform: &mut Platform) -> Self {
        Self::new(Guard::open(platform))
    }
}

impl Outbound {
    /// A client that calls what the guard allows.
    #[allow(clippy::disallowed_methods, reason = "this is the place")]
    pub fn new(guard: Guard) -> Self {
        let guard = Arc::new(guard);
        let client = Client::builder()
            .http1_only()
            .redirect(redirect::Policy::none())
            .no_proxy()
            // Kept connections go stale while a function is frozen.
            .pool_max_idle_per_host(0)
            .dns_resolver(Arc::new(GuardedResolver(Arc::clone(&guard))))
            .user_agent(concat!("Switchboard/", env!("CARGO_PKG_VERSION")))
            .build()
            .ok();
        Self { client, guard }
    }

    /// What may be called.
    pub fn guard(&self) -> &Guard {
        &self.guard
    }

    /// Sends a request. Boxed, so that the HTTP client is compiled here and not in every function.
    pub fn post<'a>(&'a self, post: Post<'a>) -> BoxFuture<'a, Result<Exchange, Error>> {
        Box::pin(async move {
            let client = self.client.as_ref().ok_or_else(|| Error::internal("the HTTP client could not be made"))?;
            let started = clock::now();
            let signature = signature::sign(post.secrets, post.id, started, &post.body)?;
            let (url, timeout) = (post.url.clone(), post.timeout);
            let seconds = timeout.as_secs_f64().round() as u64;
            let request = request(client, post, &signature, started);
            let mut status = None;
            let exchange = tokio::time::timeout(timeout, self.exchange(url, request, &mut status));
            let result = exchange.await.unwrap_or(Err(NoAnswer::TimedOut(seconds)));
            let ms = u64::try_from(clock::now().since(started).as_millis()).unwrap_or(u64::MAX);
            let error = result.as_ref().err().map(ToString::to_string);
            Ok(Exchange { result, attempt: Attempt { at: started, status, ms, error, answer: None } })
        })
    }

    /// `status` is set as soon as it is known, whatever becomes of the rest.
    async fn exchange(&self, url: Url, request: RequestBuilder, status: &mut Option<u16>) -> Result<Answer, NoAnswer> {
        // The client does not ask its resolver about literals.
        self.guard.check(&url).map_err(NoAnswer::Forbidden)?;
        let mut response = request.send().await.map_err(|error| no_answer(&error))?;
        let answered = response.status().as_u16();
        *status = Some(answered);
        let mut body = Vec::new();
        while body.len() < MAX_ANSWER_BYTES {
            let Some(chunk) = response.chunk().await.map_err(|_| NoAnswer::Closed)? else { break };
            body.extend_from_slice(&chunk);
        }
        body.truncate(MAX_ANSWER_BYTES);
        Ok(Answer { status: answered, body })
    }
}

fn request(client: &Client, post: Post<'_>, signature: &str, at: Timestamp) -> RequestBuilder {
    let request = client
        .post(post.url)
        .header(CONTENT_TYPE, HeaderValue::from_static("application/json; charset=utf-8"))
        .header("webhook-id", post.id)
        .header("webhook-timestamp", at.seconds())
        .header("webhook-signature", signature)
        .body(post.body);
    if post.chunked { request.header(TRANSFER_ENCODING, HeaderValue::from_static("chunked")) } else { request }
}

/// `<prefix>/<last>`: the address of a receiver. A query in the prefix stays where it is.
pub fn endpoint(prefix: &str, last: &str) -> Result<Url, Error> {
    let mut url = Url::parse(prefix).map_err(Error::internal)?;
    url.path_segments_mut().map_err(|()| Error::internal("endpoint"))?.pop_if_empty().push(last);
    Ok(url)
}

/// The address of a channel's integrator (specification, A-3): the channel's identifier where it has a place, else as the
/// last segment, unless the channel says otherwise.
pub fn integrator_endpoint(settings: &ChannelSettings, channel_id: &str) -> Result<Url, Error> {
    match settings.filled_url(channel_id) {
        Some(filled) => Url::parse(&filled).map_err(Error::internal),
        None if settings.append_channel_id => endpoint(&settings.integrator_url, channel_id),
        None => Url::parse(&settings.integrator_url).map_err(Error::internal),
    }
}

/// The outcome of an entry that cannot be sent at all.
pub fn refused(message: &str) -> (Outcome, Attempt) {
    let attempt = Attempt { at: clock::now(), status: None, ms: 0, error: Some(message.to_owned()), answer: None };
    (rejected(message.to_owned()), attempt)
}

fn rejected(message: String) -> Outcome {
    Outcome::Rejected(Failure { code: None, message, hidden: false })
}

fn no_answer(error: &reqwest::Error) -> NoAnswer {
    if let Some(forbidden) = forbidden(error) {
        NoAnswer::Forbidden(forbidden)
    } else if error.is_connect() {
        NoAnswer::NoConnection
    } else {
        NoAnswer::Closed
    }
}

/// The guard's own refusal, somewhere among the causes.
fn forbidden(error: &reqwest::Error) -> Option<Forbidden> {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(forbidden) = error.downcast_ref::<Forbidden>() {
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
    use crate::domain::channel::Validation;
    use crate::domain::content::Shows;

    #[test]
    fn no_answer_is_worth_another_try_and_a_forbidden_address_is_final() {
        let judged = |no_answer: NoAnswer| {
            let attempt = Attempt { at: Timestamp(7), status: None, ms: 12, error: None, answer: None };
            Exchange { result: Err(no_answer), attempt }.judge(|_| Outcome::Delivered)
        };
        let (outcome, attempt) = judged(NoAnswer::Forbidden(Forbidden::Address));
        let words = "the address must not lead to a private or special address";
        assert_eq!(outcome, rejected(words.to_owned()));
        let error = Some(words.to_owned());
        assert_eq!(attempt, Attempt { at: Timestamp(7), status: None, ms: 12, error, answer: None });
        let (outcome, attempt) = judged(NoAnswer::TimedOut(3));
        assert_eq!(outcome, Outcome::TryAgain("no answer within 3 seconds".into()));
        assert_eq!(attempt.error.as_deref(), Some("no answer within 3 seconds"));
    }

    #[test]
    fn the_identifier_is_the_last_segment_of_the_receivers_address() {
        let table = [
            ("https://a.example", "https://a.example/ID"),
            ("https://a.example/", "https://a.example/ID"),
            ("https://a.example/hook", "https://a.example/hook/ID"),
            ("https://a.example/hook/?key=1", "https://a.example/hook/ID?key=1"),
        ];
        for (prefix, expected) in table {
            assert_eq!(endpoint(prefix, "ID").unwrap().as_str(), expected);
        }
        let filled = [
            ("https://a.example/{channel_id}/in", true, "https://a.example/ID/in"),
            ("https://a.example/in?c={channel_id}&d={channel_id}", true, "https://a.example/in?c=ID&d=ID"),
            ("https://{channel_id}.a.example", false, "https://id.a.example/"),
            ("https://a.example/in?c=1", false, "https://a.example/in?c=1"),
            ("https://a.example/in?c=1", true, "https://a.example/in/ID?c=1"),
        ];
        for (integrator_url, append_channel_id, expected) in filled {
            let settings = ChannelSettings {
                name: String::new(),
                integrator_url: integrator_url.into(),
                append_channel_id,
                enabled: true,
                chunked: false,
                agent_ids: vec![],
                department_ids: vec![],
                validation: Validation::Strict,
                hidden_error_codes: vec![],
                shows: Shows::default(),
            };
            assert_eq!(integrator_endpoint(&settings, "ID").unwrap().as_str(), expected);
        }
        assert_eq!(endpoint("https://a.example", "a/../b").unwrap().as_str(), "https://a.example/a%2F..%2Fb");
    }
}
