//! Standard Webhooks signatures: HMAC (`v1`) and Ed25519 (`v1a`). The service signs every request to a receiver except those to Twilio
//! (docs/decisions.md, General). The plain HTTP gateway for phone calls signs the requests that it sends to the
//! service.

use aws_lc_rs::signature::Ed25519KeyPair;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lambda_http::http::HeaderMap;
use standardwebhooks::Webhook;

use crate::domain::deliveries::signing_key::SigningKey;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;

/// Returns the value of the `webhook-signature` header: one signature for each secret, separated by spaces. An HMAC
/// secret consists of `whsec_` and the key in base64, and an Ed25519 key is a [`SigningKey`].
pub(crate) fn sign(secrets: &[String], id: &str, at: Timestamp, body: &[u8]) -> Result<String, Error> {
    let seconds = i64::try_from(at.seconds()).unwrap_or(i64::MAX);
    let sign_with = |secret: &String| {
        if let Some(key) = SigningKey::parse(secret) {
            return sign_with_key(key, id, seconds, body);
        }
        let webhook = Webhook::new(secret).map_err(|_| Error::internal("signing secret"))?;
        webhook.sign(id, seconds, body).map_err(|_| Error::internal("signature"))
    };
    let signatures: Result<Vec<String>, Error> = secrets.iter().map(sign_with).collect();
    Ok(signatures?.join(" "))
}

fn sign_with_key(SigningKey { seed, public_key }: SigningKey, id: &str, at: i64, body: &[u8]) -> Result<String, Error> {
    let pair = Ed25519KeyPair::from_seed_and_public_key(&seed, &public_key);
    let pair = pair.map_err(|_| Error::internal("signing key"))?;
    let content = [format!("{id}.{at}.").as_bytes(), body].concat();
    Ok(format!("v1a,{}", STANDARD.encode(pair.sign(&content))))
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

    /// The vectors of docs/webhooks.md. The `v1a` signature is the one that Python's `cryptography` makes.
    #[test]
    fn signatures_of_the_documentation_are_right() {
        let key = "whsk_pCP0LD/dqmcEOWeuQEK0O1eYkfS5LyJ/wZpjhP8bCWhtwXebFDX7aHiugHv8HyjLGoh35Y+tUbPwBWc/2dFJpA==";
        let (id, at) = ("01a214d2-d7b1-7000-8000-04000000ab59", Timestamp::from_seconds(1_790_331_234));
        let signed = sign(&[SECRET.to_owned(), key.to_owned()], id, at, "{\"result\":\"жж\"}".as_bytes()).unwrap();
        let hmac = "v1,wJo0lSJ7dsGbwrKQ4yRBOHrlZqiF63yxj5mblwvid54=";
        let ed25519 = "v1a,nvVEA4u270GV9TU/HwULVPk262P6R0U7iX1gkjMM01R6Y2PNxxF0yUciKtqoJykhmAr4MWihw044naq9oZyLCQ==";
        assert_eq!(signed, format!("{hmac} {ed25519}"));
        let documentation = include_str!("../../../docs/webhooks.md");
        let public_key = SigningKey::parse(key).unwrap().to_public_text();
        for vector in [SECRET, hmac, &public_key, ed25519] {
            assert!(documentation.contains(vector), "{vector}");
        }
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
