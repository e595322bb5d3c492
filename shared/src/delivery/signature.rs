//! Standard Webhooks signatures. The service signs every request to a receiver except those to Twilio
//! (docs/decisions.md, General). The plain HTTP gateway for phone calls signs the requests that it sends to the
//! service.

use lambda_http::http::HeaderMap;
use standardwebhooks::Webhook;

use crate::domain::timestamp::Timestamp;
use crate::error::Error;

/// Returns the value of the `webhook-signature` header: one signature for each secret, separated by spaces. A secret
/// consists of `whsec_` and the key in base64.
pub(crate) fn sign(secrets: &[String], id: &str, at: Timestamp, body: &[u8]) -> Result<String, Error> {
    let seconds = i64::try_from(at.seconds()).unwrap_or(i64::MAX);
    let sign_with = |secret: &String| {
        let webhook = Webhook::new(secret).map_err(|_| Error::internal("signing secret"))?;
        webhook.sign(id, seconds, body).map_err(|_| Error::internal("signature"))
    };
    let signatures: Result<Vec<String>, Error> = secrets.iter().map(sign_with).collect();
    Ok(signatures?.join(" "))
}

/// Checks that a received request has a valid signature that is at most five minutes old.
pub(crate) fn verify(secret: &str, headers: &HeaderMap, body: &[u8]) -> Result<(), Error> {
    let webhook = Webhook::new(secret).map_err(|_| Error::internal("signing secret"))?;
    webhook.verify(body, headers).map_err(|_| Error::InvalidSignature)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::runtime::clock;

    const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

    fn headers(at: Timestamp, signature: &str) -> HeaderMap {
        let seconds = at.seconds().to_string();
        let headers = [("webhook-id", "m1"), ("webhook-timestamp", seconds.as_str()), ("webhook-signature", signature)];
        headers.into_iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    #[test]
    fn only_a_recent_signature_of_the_body_is_accepted() {
        let now = clock::now();
        let signature = |at| sign(&[SECRET.to_owned()], "m1", at, b"{}").unwrap();
        let is_accepted = |at, signature: &str, body: &[u8]| verify(SECRET, &headers(at, signature), body).is_ok();
        assert!(is_accepted(now, &signature(now), b"{}"));
        let old = now.minus(std::time::Duration::from_secs(6 * 60));
        assert!(!is_accepted(old, &signature(old), b"{}"), "an old request");
        assert!(!is_accepted(now, &signature(old), b"{}"), "an old request with a new time");
        assert!(!is_accepted(now, &signature(now), b"[]"), "another body");
        assert!(!is_accepted(now, "v1,AAAA", b"{}"));
        assert!(matches!(verify(SECRET, &HeaderMap::new(), b"{}"), Err(Error::InvalidSignature)));
    }
}
