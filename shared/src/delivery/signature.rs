//! Standard Webhooks signatures. Every outbound request is signed (docs/decisions.md, General).

use standardwebhooks::Webhook;

use crate::domain::timestamp::Timestamp;
use crate::error::Error;

/// Returns the value of the `webhook-signature` header: one signature for each secret, separated by spaces. A secret
/// consists of `whsec_` and base64.
pub(crate) fn sign(secrets: &[&str], id: &str, at: Timestamp, body: &[u8]) -> Result<String, Error> {
    let seconds = i64::try_from(at.seconds()).unwrap_or(i64::MAX);
    let sign_with = |secret: &&str| {
        let webhook = Webhook::new(secret).map_err(|_| Error::internal("signing secret"))?;
        webhook.sign(id, seconds, body).map_err(|_| Error::internal("signature"))
    };
    let signatures: Result<Vec<String>, Error> = secrets.iter().map(sign_with).collect();
    Ok(signatures?.join(" "))
}
