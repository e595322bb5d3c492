//! Standard Webhooks signatures, which every outbound request carries (gaps.md, Everywhere).

use standardwebhooks::Webhook;

use crate::domain::timestamp::Timestamp;
use crate::error::Error;

/// The `webhook-signature` of a request; `secret` is `whsec_` and base64.
pub fn sign(secret: &str, id: &str, at: Timestamp, body: &[u8]) -> Result<String, Error> {
    let webhook = Webhook::new(secret).map_err(|_| Error::internal("signing secret"))?;
    let seconds = i64::try_from(at.seconds()).unwrap_or(i64::MAX);
    webhook.sign(id, seconds, body).map_err(|_| Error::internal("signature"))
}
