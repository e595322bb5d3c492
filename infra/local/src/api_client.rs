//! A client for the service's public HTTP API, used by the `switchboard` command, the demo account, the `cost` crate
//! and tests.

use std::time::Duration;

use reqwest::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use reqwest::{Client, Method, RequestBuilder, Response, Url};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use standardwebhooks::Webhook;
use time::OffsetDateTime;
use uuid::Uuid;

const REQUEST_TIMEOUT: Duration = Duration::from_secs(15);

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("cannot create the HTTP client: {0}")]
    Client(reqwest::Error),
    #[error("cannot sign a request: {0}")]
    Signature(standardwebhooks::WebhookError),
    /// The service did not respond, or its response body is not the expected JSON.
    #[error("{request} failed: {source}")]
    Request {
        /// The method and the path of the request.
        request: String,
        source: reqwest::Error,
    },
    /// The response has a status code outside the range 200 to 299.
    #[error("{request} returned {status}: {message}")]
    Status {
        request: String,
        status: u16,
        /// The error message in the response, or an empty string if there is none.
        message: String,
    },
}

#[derive(Debug)]
pub struct ApiClient {
    http: Client,
    base_url: String,
}

impl ApiClient {
    pub fn new(base_url: &str) -> Result<Self, Error> {
        let http = Client::builder().no_proxy().timeout(REQUEST_TIMEOUT).build().map_err(Error::Client)?;
        Ok(Self { http, base_url: base_url.to_owned() })
    }

    #[must_use]
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    pub async fn get<T: DeserializeOwned>(&self, path: &str, token: &str) -> Result<T, Error> {
        self.send(Method::GET, path, Some(token), None).await
    }

    pub async fn post<T: DeserializeOwned>(&self, path: &str, token: Option<&str>, body: &Value) -> Result<T, Error> {
        self.send(Method::POST, path, token, Some(body)).await
    }

    pub async fn put(&self, path: &str, token: &str, body: &Value) -> Result<Value, Error> {
        self.send(Method::PUT, path, Some(token), Some(body)).await
    }

    pub async fn patch(&self, path: &str, token: &str, body: &Value) -> Result<Value, Error> {
        self.send(Method::PATCH, path, Some(token), Some(body)).await
    }

    /// Sends a signed request (Standard Webhooks), as the HTTP gateway of a telephony provider does. `path` may also be
    /// an absolute URL below the base URL.
    pub async fn post_signed(&self, path: &str, secret: &str, body: &Value) -> Result<Value, Error> {
        let url = if path.starts_with('/') { format!("{}{path}", self.base_url) } else { path.to_owned() };
        let (id, seconds) = (Uuid::now_v7().to_string(), OffsetDateTime::now_utc().unix_timestamp());
        let text = body.to_string();
        let webhook = Webhook::new(secret).map_err(Error::Signature)?;
        let signature = webhook.sign(&id, seconds, text.as_bytes()).map_err(Error::Signature)?;
        let builder = self.http.post(url).header("webhook-id", id);
        let builder = builder.header("webhook-timestamp", seconds.to_string()).header("webhook-signature", signature);
        execute(format!("POST {path}"), builder.header(CONTENT_TYPE, "application/json").body(text)).await
    }

    /// Returns a page's content security policy and HTML.
    pub async fn get_page(&self, path: &str) -> Result<(String, String), Error> {
        let failed = |source| Error::Request { request: format!("GET {path}"), source };
        let response = self.http.get(format!("{}{path}", self.base_url)).send().await.map_err(failed)?;
        let response = response.error_for_status().map_err(failed)?;
        let policy = response.headers().get(CONTENT_SECURITY_POLICY).and_then(|policy| policy.to_str().ok());
        let policy = policy.unwrap_or_default().to_owned();
        Ok((policy, response.text().await.map_err(failed)?))
    }

    async fn send<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        token: Option<&str>,
        body: Option<&Value>,
    ) -> Result<T, Error> {
        let request = format!("{method} {path}");
        let mut builder = self.http.request(method, format!("{}{path}", self.base_url));
        if let Some(token) = token {
            builder = builder.bearer_auth(token);
        }
        if let Some(body) = body {
            builder = builder.json(body);
        }
        execute(request, builder).await
    }
}

/// Sends a request and parses the JSON body of the response. `request` is the method and the path, for error messages.
async fn execute<T: DeserializeOwned>(request: String, builder: RequestBuilder) -> Result<T, Error> {
    let failed = |source| Error::Request { request: request.clone(), source };
    let response = builder.send().await.map_err(failed)?;
    if !response.status().is_success() {
        return Err(status_error(request, response).await);
    }
    response.json().await.map_err(failed)
}

/// Replaces the base URL of `url` with `base_url`. Returns `None` if `url` is invalid, if its path does not begin with
/// the segments of `path_prefix`, or if it already has this base URL.
pub(crate) fn with_base_url(url: &str, path_prefix: &str, base_url: &str) -> Option<String> {
    let url = Url::parse(url).ok()?;
    let rest = url.path().strip_prefix(path_prefix)?;
    let is_below_prefix = rest.is_empty() || rest.starts_with('/');
    let moved_url = format!("{base_url}{}", url.path());
    (is_below_prefix && url.as_str() != moved_url).then_some(moved_url)
}

impl Error {
    #[must_use]
    pub fn has_status(&self, expected: u16) -> bool {
        matches!(self, Self::Status { status, .. } if *status == expected)
    }
}

/// The body of an error response. Functions and the gateway use different formats.
#[derive(Deserialize)]
#[serde(untagged)]
enum ErrorBody {
    Function { error: ErrorMessage },
    Gateway(ErrorMessage),
}

#[derive(Deserialize)]
struct ErrorMessage {
    message: String,
}

async fn status_error(request: String, response: Response) -> Error {
    let status = response.status().as_u16();
    let message = match response.json().await {
        Ok(ErrorBody::Function { error } | ErrorBody::Gateway(error)) => error.message,
        Err(_) => String::new(),
    };
    Error::Status { request, status, message }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_url_below_prefix_moves_to_new_base_url() {
        const BASE_URL: &str = "http://127.0.0.1:4000";
        for (url, expected) in [
            ("http://127.0.0.1:3000/_local/bot", Some("http://127.0.0.1:4000/_local/bot")),
            ("http://localhost:4000/_local/bot/x", Some("http://127.0.0.1:4000/_local/bot/x")),
            ("http://127.0.0.1:4000/_local/bot", None),
            ("http://127.0.0.1:3000/_local/bots", None),
            ("https://bots.example/mine", None),
            ("", None),
        ] {
            assert_eq!(with_base_url(url, "/_local/bot", BASE_URL).as_deref(), expected, "{url}");
        }
    }
}
