//! A client of the service's own public HTTP API: the demo uses no other door than everybody else.

use std::time::Duration;

use reqwest::{Client, Method, Response, Url};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Why a call brought nothing.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No answer, or one that is not what the contract says.
    #[error("{call} failed: {source}")]
    Call {
        /// Method and path.
        call: String,
        /// What went wrong on the way.
        source: reqwest::Error,
    },
    /// An answer that says no.
    #[error("{call} answered {status}: {message}")]
    Refused {
        /// Method and path.
        call: String,
        /// HTTP status.
        status: u16,
        /// The service's own words, or nothing.
        message: String,
    },
}

/// The service at one address.
#[derive(Debug)]
pub struct Api {
    http: Client,
    base_url: String,
}

impl Api {
    /// A client of the service at `base_url`.
    ///
    /// # Errors
    /// The HTTP client cannot be set up.
    pub fn new(base_url: &str) -> Result<Self, Error> {
        let http = Client::builder()
            .no_proxy()
            .timeout(Duration::from_secs(15))
            .build()
            .map_err(|source| Error::Call { call: "setting up a client".to_owned(), source })?;
        Ok(Self { http, base_url: base_url.to_owned() })
    }

    /// Where the service is.
    #[must_use]
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// Reads.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn get<T: DeserializeOwned>(&self, path: &str, bearer: &str) -> Result<T, Error> {
        self.call(Method::GET, path, Some(bearer), None).await
    }

    /// Creates or acts.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn post<T: DeserializeOwned>(&self, path: &str, bearer: Option<&str>, body: &Value) -> Result<T, Error> {
        self.call(Method::POST, path, bearer, Some(body)).await
    }

    /// Says how something is.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn put(&self, path: &str, bearer: &str, body: &Value) -> Result<Value, Error> {
        self.call(Method::PUT, path, Some(bearer), Some(body)).await
    }

    /// Changes.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn patch(&self, path: &str, bearer: &str, body: &Value) -> Result<Value, Error> {
        self.call(Method::PATCH, path, Some(bearer), Some(body)).await
    }

    async fn call<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        bearer: Option<&str>,
        body: Option<&Value>,
    ) -> Result<T, Error> {
        let call = format!("{method} {path}");
        let mut request = self.http.request(method, format!("{}{path}", self.base_url));
        if let Some(token) = bearer {
            request = request.bearer_auth(token);
        }
        if let Some(body) = body {
            request = request.json(body);
        }
        let failed = |source| Error::Call { call: call.clone(), source };
        let response = request.send().await.map_err(failed)?;
        if !response.status().is_success() {
            return Err(refusal(call, response).await);
        }
        response.json().await.map_err(failed)
    }
}

/// An address below `prefix` with another beginning than `base_url`: the same with that one.
pub(crate) fn moved(url: &str, prefix: &str, base_url: &str) -> Option<String> {
    let url = Url::parse(url).ok()?;
    let rest = url.path().strip_prefix(prefix)?;
    let is_below = rest.is_empty() || rest.starts_with('/');
    let here = format!("{base_url}{}", url.path());
    (is_below && url.as_str() != here).then_some(here)
}

impl Error {
    /// Whether the service answered with this status.
    #[must_use]
    pub fn is(&self, expected: u16) -> bool {
        matches!(self, Self::Refused { status, .. } if *status == expected)
    }
}

/// The error body of every endpoint, and that of the gateway before them.
#[derive(Deserialize)]
#[serde(untagged)]
enum ErrorBody {
    Ours { error: ErrorText },
    Gateway(ErrorText),
}

#[derive(Deserialize)]
struct ErrorText {
    message: String,
}

async fn refusal(call: String, response: Response) -> Error {
    let status = response.status().as_u16();
    let message = match response.json().await {
        Ok(ErrorBody::Ours { error } | ErrorBody::Gateway(error)) => error.message,
        Err(_) => String::new(),
    };
    Error::Refused { call, status, message }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_address_of_ours_elsewhere_is_moved() {
        const BASE: &str = "http://127.0.0.1:4000";
        for (url, expected) in [
            ("http://127.0.0.1:3000/_local/bot", Some("http://127.0.0.1:4000/_local/bot")),
            ("http://localhost:4000/_local/bot/x", Some("http://127.0.0.1:4000/_local/bot/x")),
            ("http://127.0.0.1:4000/_local/bot", None),
            ("http://127.0.0.1:3000/_local/bots", None),
            ("https://bots.example/mine", None),
            ("", None),
        ] {
            assert_eq!(moved(url, "/_local/bot", BASE).as_deref(), expected, "{url}");
        }
    }
}
