//! Lets an admin rotate the signing secret of a channel or a bot.

use std::time::Duration;

use serde_json::{Value, json};

use crate::domain::signing_secret::SigningSecrets;
use crate::domain::timestamp::Timestamp;
use crate::error::Error;
use crate::runtime::random_ids_and_secrets::random_signing_secret;
use crate::wire::admin;

/// A rotation that is not stored yet.
pub struct Rotation {
    pub secrets: SigningSecrets,
    /// The body of the response. It contains the new secret, which no later response contains.
    pub body: Value,
}

/// Adds a new random signing secret to the secrets in `before` and returns the result, which the caller must store. The
/// body of the request says how long the previous secret stays valid.
pub fn rotated(before: &SigningSecrets, request_body: &Value, now: Timestamp) -> Result<Rotation, Error> {
    let old_until = now.plus(Duration::from_secs(admin::parse_overlap_seconds(request_body)?));
    let (secret, mut secrets) = (random_signing_secret()?, before.clone());
    secrets.rotate(secret.clone(), now, old_until);
    let body = json!({ "signing_secret": secret, "old_signing_secret_valid_until": old_until.seconds() });
    Ok(Rotation { secrets, body })
}
