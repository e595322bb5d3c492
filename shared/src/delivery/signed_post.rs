//! A signed JSON request to a receiver, and how admins see it. The request that is sent and the one that is shown have
//! the same headers and the same body, except for secrets.

use std::time::Duration;

use serde_json::Value;
use url::{Position, Url};

use crate::delivery::signature;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::wire::admin::receiver_test::{SentMethod, SentRequest};

/// Replaces secrets in what admins see.
pub(crate) const HIDDEN: &str = "***";
pub(crate) const USER_AGENT: &str = concat!("Switchboard/", env!("CARGO_PKG_VERSION"));
pub(crate) const JSON_CONTENT_TYPE: &str = "application/json; charset=utf-8";
const SHOWN_SIGNATURE_CHARS: usize = 7;
/// What a request with `Signing::OfOtherBody` is signed for.
const OTHER_BODY: &[u8] = b"{}";
const SIGNATURE_HEADER: &str = "webhook-signature";

/// How a request is signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signing {
    Right,
    /// The request has none of the headers of a signature. This and the next one are sent only to check that a server
    /// refuses them.
    Missing,
    OfOtherBody,
    /// The request was signed this long ago.
    Earlier(Duration),
}

/// A JSON request to a receiver. It is signed when it is sent.
#[derive(Clone)]
pub(crate) struct SignedPost {
    /// `None` if the receiver fetches the request instead.
    pub url: Option<Url>,
    /// The URL that admins see, with its secrets replaced. `None` means that they see `url`.
    pub shown_url: Option<String>,
    pub body: Vec<u8>,
    pub content_type: &'static str,
    /// The `webhook-id` header. It is the same for every attempt to deliver an entry.
    pub id: String,
    /// The secrets that sign the request (Standard Webhooks). There are several if rotated secrets are still valid.
    pub secrets: Vec<String>,
    pub signing: Signing,
    pub chunked: bool,
    /// Secrets in the URL or the body. What admins see of a response does not contain them.
    pub hidden: Vec<String>,
}

impl SignedPost {
    /// Returns the headers of a request that is sent at this time, except for those that the HTTP client adds.
    pub(super) fn headers(&self, at: Timestamp) -> Result<Vec<(&'static str, String)>, Error> {
        let mut headers = vec![("content-type", self.content_type.to_owned())];
        headers.extend(self.signature_headers(at)?);
        if self.chunked {
            headers.push(("transfer-encoding", "chunked".to_owned()));
        }
        Ok(headers)
    }

    fn signature_headers(&self, at: Timestamp) -> Result<Vec<(&'static str, String)>, Error> {
        let (at, body) = match self.signing {
            Signing::Missing => return Ok(Vec::new()),
            Signing::Right => (at, &*self.body),
            Signing::OfOtherBody => (at, OTHER_BODY),
            Signing::Earlier(age) => (at.minus(age), &*self.body),
        };
        let signature = signature::sign(&self.secrets, &self.id, at, body)?;
        Ok(vec![
            ("webhook-id", self.id.clone()),
            ("webhook-timestamp", at.seconds().to_string()),
            (SIGNATURE_HEADER, signature),
        ])
    }

    /// Returns the request as admins see it: the signatures are shortened. `at` is the time at which it was or would be
    /// sent.
    pub(crate) fn shown(&self, at: Timestamp) -> Result<SentRequest, Error> {
        let mut headers = self.headers(at)?;
        for (_, value) in headers.iter_mut().filter(|(name, _)| *name == SIGNATURE_HEADER) {
            let shortened = value.split(' ').map(|it| it.chars().take(SHOWN_SIGNATURE_CHARS).chain(['…']).collect());
            *value = shortened.collect::<Vec<String>>().join(" ");
        }
        headers.extend(self.url.iter().flat_map(|url| self.client_headers(url)));
        let url = self.shown_url.clone().or_else(|| self.url.as_ref().map(Url::to_string)).unwrap_or_default();
        let body = without_user_tokens(&String::from_utf8_lossy(&self.body), &self.hidden);
        Ok(SentRequest::new(SentMethod::Post, url, headers, &body))
    }

    /// Returns the headers that the HTTP client adds.
    fn client_headers(&self, url: &Url) -> Vec<(&'static str, String)> {
        let host = url[Position::BeforeHost..Position::AfterPort].to_owned();
        let mut headers = vec![("user-agent", USER_AGENT.to_owned()), ("accept", "*/*".to_owned()), ("host", host)];
        if !self.chunked {
            headers.push(("content-length", self.body.len().to_string()));
        }
        headers
    }
}

/// Returns a body without these values of `user_token`. Other fields stay as they are, because a short token could equal
/// any of their values.
pub(super) fn without_user_tokens(body: &str, tokens: &[String]) -> String {
    let field = |value: &str| format!("\"user_token\":{}", Value::from(value));
    tokens.iter().fold(body.to_owned(), |body, token| body.replace(&field(token), &field(HIDDEN)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn only_the_user_token_is_hidden_in_the_body() {
        let post = SignedPost {
            url: Url::parse("https://a.example").ok(),
            shown_url: None,
            body: br#"{"user_token":"7","visitor":{"number":"7"}}"#.to_vec(),
            content_type: JSON_CONTENT_TYPE,
            id: "m1".into(),
            secrets: vec![format!("whsec_{}", "a".repeat(32))],
            signing: Signing::Right,
            chunked: false,
            hidden: vec!["7".into()],
        };
        assert_eq!(post.shown(Timestamp(0)).unwrap().body, r#"{"user_token":"***","visitor":{"number":"7"}}"#);
        let cloud_event = SignedPost { body: br#"{"data":{"user_token":"7"},"id":"7"}"#.to_vec(), ..post };
        assert_eq!(cloud_event.shown(Timestamp(0)).unwrap().body, r#"{"data":{"user_token":"***"},"id":"7"}"#);
    }

    #[test]
    fn shown_signature_is_shortened() {
        let secret = |letter: &str| format!("whsec_{}", letter.repeat(32));
        let post = SignedPost {
            url: Url::parse("https://a.example:8443/in?key=1").ok(),
            shown_url: None,
            body: b"{}".to_vec(),
            content_type: JSON_CONTENT_TYPE,
            id: "m1".into(),
            secrets: vec![secret("a"), secret("b")],
            signing: Signing::Right,
            chunked: false,
            hidden: Vec::new(),
        };
        let (sent, shown) = (post.headers(Timestamp(1_000)).unwrap(), post.shown(Timestamp(1_000)).unwrap());
        let value = |headers: &[(&'static str, String)], name: &str| {
            headers.iter().find(|(it, _)| *it == name).unwrap().1.clone()
        };
        let signatures: Vec<String> = value(&sent, SIGNATURE_HEADER).split(' ').map(str::to_owned).collect();
        let shortened: Vec<String> = signatures.iter().map(|it| format!("{}…", &it[..7])).collect();
        let shown: Vec<_> = shown.headers.into_iter().map(|header| (header.name, header.value)).collect();
        assert_eq!(value(&shown, SIGNATURE_HEADER), shortened.join(" "));
        assert_eq!((shortened.len(), value(&shown, "host")), (2, "a.example:8443".to_owned()));
    }
}
