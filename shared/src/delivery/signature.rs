//! Standard Webhooks signatures, which every outbound request carries (docs/decisions.md, Everywhere).

use standardwebhooks::Webhook;

use crate::domain::timestamp::Timestamp;
use crate::error::Error;

/// The `webhook-signature` of a request: one for each secret, `whsec_` and base64, separated by spaces.
pub fn sign(secrets: &[&str], id: &str, at: Timestamp, body: &[u8]) -> Result<String, Error> {
    let seconds = i64::try_from(at.seconds()).unwrap_or(i64::MAX);
    let one = |secret: &&str| {
        let webhook = Webhook::new(secret).map_err(|_| Error::internal("signing secret"))?;
        webhook.sign(id, seconds, body).map_err(|_| Error::internal("signature"))
    };
    let signatures: Result<Vec<String>, Error> = secrets.iter().map(one).collect();
    Ok(signatures?.join(" "))
}
