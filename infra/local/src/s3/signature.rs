//! Verifies signatures (Signature Version 4) in the `Authorization` header, in the query of a URL, and of a form's
//! policy.

use axum::http::{HeaderMap, Method, Uri, header};
use hmac::{Hmac, KeyInit, Mac};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use sha2::Sha256;
use time::macros::format_description;
use time::{OffsetDateTime, PrimitiveDateTime};

use super::error::S3Error;
use crate::http::request_text::{header_text, query_pairs};
use crate::random_and_digest::sha256_hex;

pub(super) const ALGORITHM: &str = "AWS4-HMAC-SHA256";
const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Who has signed a request, and with which key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Credential {
    pub access_key_id: String,
    /// Date, region, service and `aws4_request`.
    scope: Vec<String>,
}

impl Credential {
    pub fn parse(text: &str) -> Result<Self, S3Error> {
        let mut parts = text.split('/').map(str::to_owned);
        let access_key_id = parts.next().unwrap_or_default();
        let scope: Vec<String> = parts.collect();
        if scope.len() == 4 { Ok(Self { access_key_id, scope }) } else { Err(S3Error::SignatureDoesNotMatch) }
    }

    /// Returns the signature of a text in lower-case hexadecimal.
    fn sign(&self, secret: &str, text: &str) -> Result<String, S3Error> {
        let secret = format!("AWS4{secret}").into_bytes();
        let key = self.scope.iter().try_fold(secret, |key, part| hmac(&key, part))?;
        Ok(hmac(&key, text)?.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    pub fn verify(&self, secret: &str, text: &str, signature: &str) -> Result<(), S3Error> {
        if self.sign(secret, text)? == signature { Ok(()) } else { Err(S3Error::SignatureDoesNotMatch) }
    }
}

fn hmac(key: &[u8], text: &str) -> Result<Vec<u8>, S3Error> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).map_err(|_| S3Error::Internal)?;
    mac.update(text.as_bytes());
    Ok(mac.finalize().into_bytes().to_vec())
}

/// Verifies the signature of a request and returns the id of its access key.
pub(super) fn verify_request(
    (method, uri, headers): (&Method, &Uri, &HeaderMap),
    secret: &str,
    now: OffsetDateTime,
) -> Result<String, S3Error> {
    let query: Vec<(String, String)> = query_pairs(uri.query().unwrap_or_default()).collect();
    let parameter = |name: &str| query.iter().find(|(it, _)| it == name).map(|(_, value)| value.as_str());
    let is_presigned = parameter("X-Amz-Signature").is_some();
    let authorization = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let part = |name: &str| {
        let authorization = authorization.and_then(|text| text.strip_prefix(ALGORITHM)).unwrap_or_default();
        let mut parts = authorization.split(',').map(str::trim);
        parts.find_map(|part| part.strip_prefix(name)?.strip_prefix('=')).unwrap_or_default()
    };
    let (credential, signed_headers, signature, date, payload) = if is_presigned {
        let text = |name| parameter(name).unwrap_or_default();
        require_unexpired(text("X-Amz-Date"), text("X-Amz-Expires"), now)?;
        let parts = (text("X-Amz-Credential"), text("X-Amz-SignedHeaders"), text("X-Amz-Signature"));
        (parts.0, parts.1, parts.2, text("X-Amz-Date").to_owned(), "UNSIGNED-PAYLOAD".to_owned())
    } else {
        let text = |name: &str| headers.get(name).map(|value| header_text(value.as_bytes())).unwrap_or_default();
        let parts = (part("Credential"), part("SignedHeaders"), part("Signature"));
        (parts.0, parts.1, parts.2, text("x-amz-date"), text("x-amz-content-sha256"))
    };
    let credential = Credential::parse(credential)?;
    let canonical_headers: String = signed_headers.split(';').map(|name| canonical_header(name, headers)).collect();
    let canonical_request =
        [method.as_str(), uri.path(), &canonical_query(&query), &canonical_headers, signed_headers, &payload]
            .join("\n");
    let scope = credential.scope.join("/");
    let text = [ALGORITHM, &date, &scope, &sha256_hex(&canonical_request)].join("\n");
    credential.verify(secret, &text, signature)?;
    Ok(credential.access_key_id)
}

fn canonical_header(name: &str, headers: &HeaderMap) -> String {
    let value = headers.get(name).map(|value| header_text(value.as_bytes())).unwrap_or_default();
    format!("{name}:{}\n", value.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn canonical_query(pairs: &[(String, String)]) -> String {
    let encode = |text: &str| utf8_percent_encode(text, UNRESERVED).to_string();
    let pairs = pairs.iter().filter(|(name, _)| name != "X-Amz-Signature");
    let mut pairs: Vec<String> = pairs.map(|(name, value)| format!("{}={}", encode(name), encode(value))).collect();
    pairs.sort();
    pairs.join("&")
}

/// Fails if a signed URL has expired.
fn require_unexpired(date: &str, seconds: &str, now: OffsetDateTime) -> Result<(), S3Error> {
    let format = format_description!("[year][month][day]T[hour][minute][second]Z");
    let signed_at = PrimitiveDateTime::parse(date, format).map_err(|_| S3Error::SignatureDoesNotMatch)?;
    let seconds = seconds.parse().map_err(|_| S3Error::SignatureDoesNotMatch)?;
    let has_expired = signed_at.assume_utc() + time::Duration::seconds(seconds) < now;
    if has_expired { Err(S3Error::AccessDenied("Request has expired".to_owned())) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// The example of the S3 documentation ("Authenticating Requests: Using Query Parameters").
    #[test]
    fn signature_is_that_of_the_s3_documentation() {
        let uri: Uri = "/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404".parse().unwrap();
        let headers = HeaderMap::from_iter([(header::HOST, "examplebucket.s3.amazonaws.com".parse().unwrap())]);
        let secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
        let verify = |method: Method, at: i64| {
            verify_request((&method, &uri, &headers), secret, OffsetDateTime::from_unix_timestamp(at).unwrap())
        };
        assert_eq!(verify(Method::GET, 1_369_353_600).unwrap(), "AKIAIOSFODNN7EXAMPLE");
        assert!(matches!(verify(Method::PUT, 1_369_353_600), Err(S3Error::SignatureDoesNotMatch)));
        assert!(matches!(verify(Method::GET, 1_369_440_001), Err(S3Error::AccessDenied(_))), "a day later");
    }
}
